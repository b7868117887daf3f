// A thread that calls a function after wake(), and at planned times. The function returns the time
// of its next call, and wake_by() names a time too.
//
// Thread-safe, but stop() must not be called from the work itself.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "engine/base/thread_safety.h"

namespace gridmount {

class BackgroundThread {
 public:
  using Clock = std::chrono::steady_clock;
  // The function must do all pending work. It returns the time of the next call, and wake() and
  // wake_by() cause an earlier call. If it returns nothing, only these cause the next call.
  using Work = std::function<std::optional<Clock::time_point>()>;
  enum class Priority { kNormal, kLow };  // kLow: nice 10

  // `name` becomes the name of the thread (engine/base/thread_name.h).
  BackgroundThread(std::string name, Priority priority, Work work);
  ~BackgroundThread() { stop(); }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  // Makes the thread call the work at least once after this call. The first wake() starts the
  // thread, and throws std::system_error if the system refuses a thread. Does nothing after stop().
  void wake() GM_EXCLUDES(mutex_);
  // Like wake(), but the call may wait until `time`. Costs no system call if the next call is
  // planned for an earlier time already.
  void wake_by(Clock::time_point time) GM_EXCLUDES(mutex_);
  // Ends the thread, and waits for its end. The work never runs afterwards. If stop() was called
  // before, returns immediately, even while the first call still waits.
  void stop() GM_EXCLUDES(mutex_);

 private:
  void run() GM_EXCLUDES(mutex_);
  // Starts the thread if it does not run yet. Otherwise makes it look at the fields below.
  void start_or_notify() GM_REQUIRES(mutex_);

  const std::string name_;
  const Priority priority_;
  const Work work_;
  Mutex mutex_;
  Condition changed_;
  bool woken_ GM_GUARDED_BY(mutex_) = false;
  // When the next call is due without wake(). Empty: never.
  std::optional<Clock::time_point> due_ GM_GUARDED_BY(mutex_);
  bool stopped_ GM_GUARDED_BY(mutex_) = false;
  std::thread thread_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount
