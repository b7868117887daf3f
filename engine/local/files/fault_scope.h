// Calls of LMDB that come back whatever they meet. LMDB trusts the pages of its file: a damaged one
// makes it follow pointers that lead nowhere, search for ever, or find its own state impossible and
// abort the process. Within guarded() either ends the call alone, with kLmdbFault.
//
// A call that is ended so has freed nothing of what it held and put back nothing of what it had
// changed. One that only reads changes no more than its cursor, which may be closed afterwards; and
// what it has allocated is lost. Of one that writes, the transaction may be half changed, and
// LMDB's writer lock is held: it is neither used nor ended any more (LmdbContext::interrupted).
//
// Only C frames may lie between guarded() and the fault, so the call is LMDB's and nothing else.
// Faults elsewhere go to the handlers that were there before.
//
// Thread-safety: thread-safe; a scope is its thread's own.
#pragma once

#include <setjmp.h>

#include <atomic>

namespace gridmount::local {

// What guarded() returns for a call that was ended. None of LMDB's codes, nor an errno.
inline constexpr int kLmdbFault = -30700;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GM_FAULT_SCOPE_KEEPS_BOOKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GM_FAULT_SCOPE_KEEPS_BOOKS 1
#endif
#endif

// Far above what any call needs.
inline constexpr int kComparisonsMax = 100'000;

// Where a thread that is in a call of LMDB goes on after a fault.
struct FaultScope {
#ifdef GM_FAULT_SCOPE_KEEPS_BOOKS
  // The sanitizers must hear of the frames that are left. With the mask: the thread sanitizer's own
  // handler, which calls ours, blocks every signal.
  sigjmp_buf place;
#else
  // A tenth of sigsetjmp()'s cost, which is felt where each entry of a scan is a call.
  void* place[5];
#endif
  // How many keys the call may still compare: a damaged page can hold LMDB's search for ever.
  int comparisons_left;
};

extern constinit thread_local FaultScope* current_fault_scope;

// Has faults and failed assertions of LMDB end the scopes they happen in. To be called before the
// first of them; does its work once.
void install_fault_handler();

// For mdb_env_set_assert(). Returns, and LMDB aborts, only outside of scopes.
void leave_fault_scope();

// `call` is a lambda around one function of LMDB. Its frame has nothing to destroy.
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
