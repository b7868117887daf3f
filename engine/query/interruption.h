// Lets a caller end the matching of a filter or the evaluation of an expression before it is
// complete. A regular expression, a sort of a long array, or nested $map, $filter and $reduce may
// take a very long time for a single document. An interruption ends this work when the command's
// maxTimeMS has passed, the command is killed, or its client is gone (CallInterruption in
// engine/wire/service.cc).
//
// Thread-safety: the functions are thread-safe. A scope of either class must be destroyed by the
// thread that has created it, before the scopes that this thread has created earlier.
#pragma once

#include <cstddef>

#include "engine/base/error.h"

namespace gridmount::query {

class Interruption {
 public:
  virtual ~Interruption() = default;
  // Returns an error if the work must end. The thread that does the work calls this function again
  // and again.
  virtual Status check() = 0;
};

// While a scope exists, the work of its thread checks the scope's interruption, and the
// interruptions of all scopes that the thread has created before and that still exist.
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

// While a scope exists, the InterruptionScopes that its thread has created before the scope have no
// effect. A scope is for work whose result many commands share, and whose input does not come from
// the command that happens to do the work.
class UninterruptedScope {
 public:
  UninterruptedScope();
  ~UninterruptedScope();
  UninterruptedScope(const UninterruptedScope&) = delete;
  UninterruptedScope& operator=(const UninterruptedScope&) = delete;

 private:
  InterruptionScope* const around_;
};

// Checks all interruptions of this thread immediately. Fails with the error of the first one that
// ends the work.
Status check_interruption_now();

// Must be called in each round of a loop. Only one of many calls checks the interruptions, as
// check_interruption_now() does.
Status check_interruption();

// Must be called before work that takes longer for larger inputs and that cannot be interrupted.
// `steps` is the number of bytes that the work reads or writes, or the number of its comparisons.
// Checks the interruptions only if the steps of all calls since the last check have reached a
// limit.
Status check_interruption_of(size_t steps);

}  // namespace gridmount::query
