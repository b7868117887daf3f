// Logs operations for which the kernel waits longer than a given time. The watchdog logs each of
// these operations once, while the operation still runs. OperationsInProgress logs again when the
// operation ends. Thread-safe.
#pragma once

#include <chrono>
#include <thread>

#include "engine/base/thread_safety.h"
#include "fuse/monitoring/operations_in_progress.h"

namespace gridmount::fuse {

class Watchdog {
 public:
  // Logs the operations that have run for `patience`. Looks for them four times in `patience`, and
  // at least once a second, but not more often than once a millisecond. If `patience` is zero, does
  // nothing. `operations` must outlive this object.
  Watchdog(OperationsInProgress& operations, std::chrono::milliseconds patience);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void run(std::chrono::milliseconds patience) GM_EXCLUDES(mutex_);

  OperationsInProgress& operations_;
  Mutex mutex_;
  Condition changed_;
  bool is_ended_ GM_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace gridmount::fuse
