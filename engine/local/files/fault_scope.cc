#include "engine/local/files/fault_scope.h"

#include <signal.h>
#include <unistd.h>

#include <optional>

#include "engine/local/files/map_guard.h"

namespace gridmount::local {

constinit thread_local FaultScope* current_fault_scope = nullptr;

namespace {

struct sigaction previous_bus_error;
struct sigaction previous_segment_error;

void call_previous_handler(const struct sigaction& previous, int signal, siginfo_t* info,
                           void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
    return;
  }
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
    return;
  }
  // After the return the instruction faults again, and the default action ends the process.
  ::signal(signal, SIG_DFL);
  if (info->si_code <= 0) ::raise(signal);
}

// Async-signal-safe, except for the handlers that call_previous_handler() calls.
void on_fault(int signal, siginfo_t* info, void* context) {
  // A code above zero means that the kernel raised the signal, rather than kill().
  if (info->si_code > 0) {
    // Within a call of LMDB, an address after the snapshot's pages comes from a damaged page. The
    // call must then end, and must not read zeros there.
    const bool behind_end = current_fault_scope == nullptr;
    const std::optional<MapGuard::Contents> zeros =
        signal == SIGBUS ? MapGuard::map_zeros_at(info->si_addr, behind_end) : std::nullopt;
    if (zeros == MapGuard::Contents::kPages) return;
    leave_fault_scope();
    if (zeros) return;
  }
  call_previous_handler(signal == SIGBUS ? previous_bus_error : previous_segment_error, signal,
                        info, context);
}

bool install(int signal, struct sigaction& previous) {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  // SA_NODEFER is necessary because the handler may leave by a jump that does not restore the
  // signal mask.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return ::sigaction(signal, &action, &previous) == 0;
}

}  // namespace

void leave_fault_scope() {
  FaultScope* const scope = current_fault_scope;
  if (scope == nullptr) return;
  current_fault_scope = nullptr;
#ifdef GM_FAULT_SCOPE_KEEPS_BOOKS
  siglongjmp(scope->place, 1);
#else
  __builtin_longjmp(scope->place, 1);
#endif
}

void install_fault_handler() {
  static const bool installed =
      install(SIGBUS, previous_bus_error) && install(SIGSEGV, previous_segment_error);
  (void)installed;
}

}  // namespace gridmount::local
