// Lets a caller end the matching of a filter or the evaluation of an expression before it is
// complete. A regular expression, a sort of a long array, or nested $map, $filter and $reduce may
// take arbitrarily long for a single document. This is how a command's maxTimeMS, a kill of the
// command, and the loss of its client end such work (CallInterruption in engine/wire/service.cc).
//
// Thread-safety: a scope belongs to the thread that creates it.
#pragma once

#include <cstddef>

#include "engine/base/error.h"

namespace gridmount::query {

class Interruption {
 public:
  virtual ~Interruption() = default;
  // Returns the error to end with if the work must end. The evaluating thread calls it from time to
  // time.
  virtual Status check() = 0;
};

// While a scope exists, evaluations of this thread check its interruption, and those of the scopes
// around it.
class InterruptionScope {
 public:
  // `interruption` must outlive the scope.
  explicit InterruptionScope(Interruption& interruption);
  ~InterruptionScope();
  InterruptionScope(const InterruptionScope&) = delete;
  InterruptionScope& operator=(const InterruptionScope&) = delete;

 private:
  friend Status check_interruption_now();

  Interruption& interruption_;
  InterruptionScope* const around_;
};

// Checks all interruptions of this thread immediately.
Status check_interruption_now();

// Must be called in each round of a loop. Only one of many calls checks the interruptions.
Status check_interruption();

// Must be called before work that grows with a size and cannot be ended halfway. `steps` is the
// number of bytes that the work reads or writes, or of comparisons that it makes. Checks the
// interruptions each time enough steps have accumulated.
Status check_interruption_of(size_t steps);

}  // namespace gridmount::query
