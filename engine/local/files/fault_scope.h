// Calls of LMDB that return even if a damaged page sends them astray. LMDB trusts the pages of its
// file. A damaged page makes it follow pointers to memory that is not mapped, search for ever, or
// fail an assertion and abort the process. Within guarded() each of these ends only the call, which
// then returns kLmdbFault.
//
// A call that is ended this way releases nothing that it held and reverts nothing that it changed.
// A reading call has changed only its cursor, which may be closed afterwards, and leaks what it has
// allocated. A writing call may leave its transaction half changed and holds LMDB's writer lock, so
// the transaction must neither be used nor be ended any more (LmdbContext::interrupted).
//
// Only C frames may lie between guarded() and the fault, so guarded() may only wrap a call of LMDB.
// Faults outside of guarded() go to the handlers that were installed before.
//
// Thread-safe: each thread has its own scope.
#pragma once

#include <setjmp.h>

#include <atomic>

namespace gridmount::local {

// What guarded() returns for a call that was ended. It is neither a code of LMDB nor an errno.
inline constexpr int kLmdbFault = -30700;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GM_FAULT_SCOPE_KEEPS_BOOKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GM_FAULT_SCOPE_KEEPS_BOOKS 1
#endif
#endif

// A limit far above the number of key comparisons that any call needs.
inline constexpr int kComparisonsMax = 100'000;

// The place where a thread continues after a fault in a call of LMDB.
struct FaultScope {
#ifdef GM_FAULT_SCOPE_KEEPS_BOOKS
  // The sanitizers intercept this jump and learn that the frames are gone. It must restore the
  // signal mask: the thread sanitizer's own handler, which calls ours, blocks every signal.
  sigjmp_buf place;
#else
  // __builtin_setjmp() takes a tenth of sigsetjmp()'s time, which matters because a scan makes one
  // call for each entry.
  void* place[5];
#endif
  // How many keys the call may still compare. Ends a search that a damaged page keeps going for
  // ever.
  int comparisons_left;
};

extern constinit thread_local FaultScope* current_fault_scope;

// Installs the handlers of SIGBUS and SIGSEGV that end the current scope. Must be called before the
// first guarded(). Only the first call has an effect.
void install_fault_handler();

// Jumps out of the current scope. Called by the signal handlers and by the assertion handler that
// mdb_env_set_assert() sets. Returns only outside of a scope.
void leave_fault_scope();

// Runs `call` in a scope. `call` must be a lambda around one function of LMDB, without objects that
// need a destructor.
template <typename Call>
[[gnu::noinline]] int guarded(const Call& call) {
  FaultScope scope;
#ifdef GM_FAULT_SCOPE_KEEPS_BOOKS
  if (sigsetjmp(scope.place, 1) != 0) return kLmdbFault;
#else
  if (__builtin_setjmp(scope.place) != 0) return kLmdbFault;
#endif
  scope.comparisons_left = kComparisonsMax;
  current_fault_scope = &scope;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const int code = call();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  current_fault_scope = nullptr;
  return code;
}

}  // namespace gridmount::local
