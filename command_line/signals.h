// What the process does on signals. They are taken by a thread of their own, so that it is ordinary
// code and not a signal handler.
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
  std::function<void()> report;      // SIGUSR1; may be empty
};

// Blocks them, and the signal that wakes threads, in this thread and all it starts. To be called
// before any thread is started, so that none of them is interrupted.
void block_signals();

// Sent to single threads, to have them look what they shall do; sent to the process it does
// nothing.
int wake_signal();

class Signals {
 public:
  // Calls stop() on its own thread for the first signal that stops; a second one ends the process
  // at once with status 128 + the signal, for when the end takes too long. report() has a thread of
  // its own, too: it may have to wait for what it tells of, and while it does, it is not called
  // again.
  explicit Signals(SignalActions actions);
  // end_actions().
  ~Signals();
  // Waits for a running action; stop() and report() are not called from then on. The process is at
  // its end: a second signal still ends it at once.
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
  bool has_stopped_ = false;  // of the waiter
  Mutex mutex_;
  bool has_actions_ GM_GUARDED_BY(mutex_) = true;
  std::thread stopper_ GM_GUARDED_BY(mutex_);
  std::thread reporter_ GM_GUARDED_BY(mutex_);
  std::thread waiter_;
};

}  // namespace gridmount
