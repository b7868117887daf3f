// What the process does on signals. They are taken by a thread of their own, so that it is ordinary
// code and not a signal handler.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace gridmount::fuse {

enum class HangUp { kStops, kReopensLog, kIsIgnored };

struct SignalActions {
  std::function<void()> stop;  // SIGTERM, SIGINT
  HangUp hang_up = HangUp::kStops;
  std::function<void()> reopen_log;
  std::function<void()> report;  // SIGUSR1: tells the mount's state
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
  // Waits for a running action.
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void run();
  void stop(int signal);
  void report();

  const SignalActions actions_;
  std::atomic<bool> is_ended_{false};
  std::atomic<bool> is_reporting_{false};
  std::thread stopper_;   // of the waiter
  std::thread reporter_;  // of the waiter
  std::thread waiter_;
};

}  // namespace gridmount::fuse
