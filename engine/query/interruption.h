// How whoever has documents matched and expressions evaluated ends that before it is through: a
// regular expression, a sort of a long array or nested $map, $filter and $reduce take any time they
// like for a single document.
//
// Thread-safety: a scope is its thread's own.
#pragma once

#include <cstddef>

#include "engine/base/error.h"

namespace gridmount::query {

class Interruption {
 public:
  virtual ~Interruption() = default;
  // The error to end with, if it is time. Called now and then by the thread that evaluates.
  virtual Status check() = 0;
};

// While it lives, evaluations of this thread ask it, and those around it as well.
class InterruptionScope {
 public:
  // `interruption` outlives it.
  explicit InterruptionScope(Interruption& interruption);
  ~InterruptionScope();
  InterruptionScope(const InterruptionScope&) = delete;
  InterruptionScope& operator=(const InterruptionScope&) = delete;

 private:
  friend Status ask_interruption();

  Interruption& interruption_;
  InterruptionScope* const around_;
};

// Asks at once.
Status ask_interruption();

// To be called for each round of a loop; asks once in a while.
Status check_interruption();

// To be called before work that grows with a size and cannot be ended: the bytes that it reads or
// writes, or the comparisons it makes. Asks once in a while, by the work that has come together.
Status check_interruption_of(size_t steps);

}  // namespace gridmount::query
