// SIGTERM, SIGINT and SIGHUP end the mount. They are taken by a thread of their own, so that the
// end is ordinary code and not a signal handler.
#pragma once

#include <functional>
#include <thread>

namespace gridmount::fuse {

// Blocks them, and SIGUSR1, in this thread and all it starts. To be called before any thread is
// started, so that none of them is interrupted.
void block_stop_signals();

class StopSignals {
 public:
  // Calls `stop` on its own thread for the first signal that comes; a second one ends the process
  // at once with status 128 + the signal, for when the end takes too long.
  explicit StopSignals(std::function<void()> stop);
  // Waits for a running stop().
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  std::thread waiter_;
};

}  // namespace gridmount::fuse
