// Logs when the kernel waits long for an operation. It logs once while the operation runs.
// OperationsInProgress logs again when the operation ends. Thread-safe.
#pragma once

#include <chrono>
#include <thread>

#include "engine/base/thread_safety.h"
#include "fuse/monitoring/operations_in_progress.h"

namespace gridmount::fuse {

class Watchdog {
 public:
  // Checks `operations`, which must outlive this object, four times in `patience` and at least
  // every second. If `patience` is zero, does nothing.
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
