// Waits for signals on a separate thread and calls the program's actions from ordinary threads.
// Unlike a signal handler, an action may do anything that ordinary code may do.
//
// block_signals() must run before any thread is started. Signals is thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "engine/base/thread_safety.h"

namespace gridmount {

// What SIGHUP does.
enum class SighupAction { kStops, kReopensLog, kIgnores };

struct SignalActions {
  std::function<void()> stop;  // SIGTERM, SIGINT, and SIGHUP with SighupAction::kStops
  SighupAction on_sighup = SighupAction::kStops;
  std::function<void()> reopen_log;  // SIGHUP with SighupAction::kReopensLog
  std::function<void()> report;      // SIGUSR1: reports the state; may be empty
};

// Blocks the signals of SignalActions and wake_signal() in this thread and in all threads that this
// thread starts. Must be called before any thread is started, so that no signal interrupts a
// thread. Also ignores SIGPIPE: a write to a pipe or socket that nobody reads then fails instead of
// ending the process.
void block_signals();

// Returns the number of a signal. With pthread_kill(), this signal makes a blocking call of one
// thread fail with EINTR, so that the thread checks whether it must end. The process must have a
// handler for the signal, and the thread must have unblocked it. If somebody sends the signal to
// the whole process, a thread checks once more, and nothing else happens.
int wake_signal();

class Signals {
 public:
  // The first signal that asks the program to stop runs stop() on a separate thread. The second
  // such signal immediately calls _exit(128 + signal), so that the user can end a shutdown that
  // hangs. report() also runs on a separate thread, because it may have to wait for locks. A
  // SIGUSR1 that arrives while report() runs is ignored.
  explicit Signals(SignalActions actions);
  // Calls end_actions().
  ~Signals();
  // Waits for stop() and report() if they are running, and never calls them again. Must not be
  // called by an action. Afterwards reopen_log() may still be called, the first signal that asks
  // the program to stop is only logged, and the second such signal still ends the process
  // immediately.
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
