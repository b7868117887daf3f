// A thread that does work when it is woken and when its time has come.
//
// Thread-safety: thread-safe, but stop() must not be called from the work itself.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "engine/base/thread_safety.h"

namespace gridmount::gridfs {

class BackgroundThread {
 public:
  using Clock = std::chrono::steady_clock;
  // Does what there is to do and returns when to be called again at the latest.
  using Work = std::function<std::optional<Clock::time_point>()>;
  enum class Priority { kNormal, kLow };

  // `name` is the thread's (engine/base/thread_name.h).
  BackgroundThread(std::string name, Priority priority, Work work);
  ~BackgroundThread() { stop(); }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  // The work will be called at least once after this. The first call starts the thread. Nothing
  // happens after stop().
  void wake() GM_EXCLUDES(mutex_);
  // Returns when the work is not running and never will be again.
  void stop() GM_EXCLUDES(mutex_);

 private:
  void run() GM_EXCLUDES(mutex_);

  const std::string name_;
  const Priority priority_;
  const Work work_;
  Mutex mutex_;
  Condition changed_;
  bool woken_ GM_GUARDED_BY(mutex_) = false;
  bool stopped_ GM_GUARDED_BY(mutex_) = false;
  std::thread thread_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::gridfs
