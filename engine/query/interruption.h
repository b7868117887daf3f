// How whoever has expressions evaluated ends that before it is through: nested $map, $filter and
// $reduce take any time they like for a single document.
//
// Thread-safety: a scope is its thread's own.
#pragma once

#include "engine/error.h"

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
  friend Status check_interruption();

  Interruption& interruption_;
  InterruptionScope* const around_;
};

// To be called for each round of a loop; asks once in a while.
Status check_interruption();

}  // namespace gridmount::query
