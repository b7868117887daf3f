#include "tools/gridfiles/interruption.h"

#include <signal.h>

#include <atomic>

namespace gridmount::tools {

namespace {

std::atomic<int> received_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "it is set in a signal handler");

void remember(int signal_number) {
  if (received_signal.exchange(signal_number) == 0) return;
  // The second signal ends the process, even if it differs from the first.
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

void Interruption::install() {
  struct sigaction action {};
  action.sa_handler = remember;
  sigemptyset(&action.sa_mask);
  // SA_RESTART is not set, so that a read that waits for input returns.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

Status Interruption::check() {
  if (received_signal.load() == 0) return {};
  return fail(ErrorCode::kInterrupted, message());
}

std::string Interruption::message() {
  const char* name = received_signal.load() == SIGTERM ? "terminated" : "interrupt";
  return std::string("signal '") + name + "' received; forcefully terminating";
}

}  // namespace gridmount::tools
