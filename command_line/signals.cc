#include "command_line/signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "engine/base/log.h"
#include "engine/base/thread_name.h"

namespace gridmount {

namespace {

sigset_t all_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, wake_signal()}) sigaddset(&set, signal);
  return set;
}

}  // namespace

int wake_signal() {
  return SIGRTMIN;
}

void block_signals() {
  const sigset_t set = all_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A write to a pipe or socket without a reader must fail, and not end the process.
  signal(SIGPIPE, SIG_IGN);
}

Signals::Signals(SignalActions actions) : actions_(std::move(actions)) {
  waiter_ = std::thread([this] { run(); });
}

Signals::~Signals() {
  end_actions();
  is_ended_ = true;
  pthread_kill(waiter_.native_handle(), wake_signal());
  waiter_.join();
}

void Signals::end_actions() {
  std::thread stopper;
  std::thread reporter;
  {
    const MutexLock lock(mutex_);
    has_actions_ = false;
    std::swap(stopper, stopper_);
    std::swap(reporter, reporter_);
  }
  // The lock is not held here, so that a second signal can be handled in the meantime.
  for (std::thread* action : {&stopper, &reporter}) {
    if (action->joinable()) action->join();
  }
}

void Signals::run() {
  name_this_thread("gm-signals");
  const sigset_t set = all_signals();
  int signal = 0;
  while (!is_ended_ && sigwait(&set, &signal) == 0) {
    if (signal == SIGTERM || signal == SIGINT) {
      stop(signal);
    } else if (signal == SIGUSR1) {
      report();
    } else if (signal == SIGHUP) {
      if (actions_.on_sighup == SighupAction::kStops) stop(signal);
      if (actions_.on_sighup == SighupAction::kReopensLog) actions_.reopen_log();
    }
  }
}

void Signals::stop(int signal) {
  if (std::exchange(has_stopped_, true)) {
    log::error("a second signal ({}): ending at once", strsignal(signal));
    _exit(128 + signal);
  }
  const MutexLock lock(mutex_);
  if (!has_actions_) {
    log::info("{}: the shutdown has already begun; a second signal ends the process at once",
              strsignal(signal));
    return;
  }
  log::info("ending on signal: {}", strsignal(signal));
  stopper_ = std::thread([this] {
    name_this_thread("gm-stop");
    actions_.stop();
  });
}

void Signals::report() {
  if (!actions_.report || is_reporting_.exchange(true)) return;
  const MutexLock lock(mutex_);
  if (!has_actions_) return;
  if (reporter_.joinable()) reporter_.join();
  reporter_ = std::thread([this] {
    name_this_thread("gm-report");
    actions_.report();
    is_reporting_ = false;
  });
}

}  // namespace gridmount
