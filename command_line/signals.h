// Handles signals on a separate thread, so that the code that runs is ordinary code and not a
// signal handler.
//
// block_signals() must run before any thread is started. Signals is thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "engine/base/thread_safety.h"

namespace gridmount {

enum class HangUp { kStops, kReopensLog, kIsIgnored };

struct SignalActions {
  std::function<void()> stop;  // SIGTERM, SIGINT
  HangUp hang_up = HangUp::kStops;
  std::function<void()> reopen_log;  // for HangUp::kReopensLog
  std::function<void()> report;      // SIGUSR1: reports the state; may be empty
};

// Blocks the signals of SignalActions, and the signal that wakes threads, in this thread and all
// threads that it starts. Must be called before any thread is started, so that none of them is
// interrupted.
void block_signals();

// Returns the signal that wakes a single thread, so that the thread checks what it should do. The
// same signal does nothing if it is sent to the whole process.
int wake_signal();

class Signals {
 public:
  // Runs stop() on a separate thread for the first signal that ends the program. A second one ends
  // the process at once with status 128 + the signal, in case the shutdown takes too long. report()
  // also runs on a separate thread, because it may have to wait for what it reports. It is not
  // called again while it runs.
  explicit Signals(SignalActions actions);
  // Calls end_actions().
  ~Signals();
  // Waits for a running action. stop() and report() are not called from then on. A second signal
  // still ends the process at once.
  void end_actions() GM_EXCLUDES(mutex_);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void run();
  void stop(int signal) GM_EXCLUDES(mutex_);
  void report() GM_EXCLUDES(mutex_);

  const SignalActions actions_;
  std::atomic<bool> is_ended_{false};
  std::atomic<bool> is_reporting_{false};
  bool has_stopped_ = false;  // used only by waiter_
  Mutex mutex_;
  bool has_actions_ GM_GUARDED_BY(mutex_) = true;
  std::thread stopper_ GM_GUARDED_BY(mutex_);
  std::thread reporter_ GM_GUARDED_BY(mutex_);
  std::thread waiter_;
};

}  // namespace gridmount
