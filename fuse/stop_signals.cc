#include "fuse/stop_signals.h"

#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstring>

namespace gridmount::fuse {

namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : signals) sigaddset(&set, signal);
  return set;
}

// Directed at the waiter alone, to end it.
constexpr int kEnd = SIGUSR1;

}  // namespace

void block_stop_signals() {
  const sigset_t set = set_of({SIGTERM, SIGINT, SIGHUP, SIGUSR1});
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // Writing to a pipe or socket nobody reads is an error of that write.
  signal(SIGPIPE, SIG_IGN);
}

StopSignals::StopSignals(std::function<void()> stop) {
  waiter_ = std::thread([stop = std::move(stop)] {
    const sigset_t set = set_of({SIGTERM, SIGINT, SIGHUP, kEnd});
    int signal = 0;
    std::thread stopper;
    while (sigwait(&set, &signal) == 0 && signal != kEnd) {
      if (stopper.joinable()) {
        spdlog::error("a second signal ({}): ending at once", strsignal(signal));
        _exit(128 + signal);
      }
      spdlog::info("unmounting on signal: {}", strsignal(signal));
      stopper = std::thread(stop);
    }
    if (stopper.joinable()) stopper.join();
  });
}

StopSignals::~StopSignals() {
  pthread_kill(waiter_.native_handle(), kEnd);
  waiter_.join();
}

}  // namespace gridmount::fuse
