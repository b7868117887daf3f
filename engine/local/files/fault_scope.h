// Makes calls of LMDB return even if they meet a damaged page. LMDB trusts the pages of its file. A
// damaged page can make LMDB read memory that is not mapped, search for ever, or abort the process
// because of an assertion. Within guarded(), each of these faults ends only the call, and guarded()
// returns kLmdbFault.
//
// A call that ends in this way releases nothing, and undoes none of its changes. If the call only
// reads, it has changed only its cursor, which may be closed afterwards. Memory that the call has
// allocated is lost. If the call writes, the transaction may be half changed, and still holds
// LMDB's writer lock. Such a transaction must be neither used nor ended (LmdbContext::interrupted).
//
// The jump out of a call runs no destructors. So no function on the stack between guarded() and the
// fault may have an object with a destructor. The function that guarded() runs should be one call
// of LMDB, or one read of mapped memory.
//
// Outside of guarded(), the handler replaces a page by zeros if a SIGBUS occurs in a mapping that a
// MapGuard guards (map_guard.h). Other faults go to the handlers that were installed before.
//
// Thread-safe: each thread has its own scope.
#pragma once

#include <setjmp.h>

#include <atomic>

namespace gridmount::local {

// guarded() returns this code for a call that a fault has ended. No code of LMDB and no errno has
// this value.
inline constexpr int kLmdbFault = -30700;

// Defined if a sanitizer must be told of each jump.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GM_FAULT_SCOPE_KEEPS_BOOKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GM_FAULT_SCOPE_KEEPS_BOOKS 1
#endif
#endif

// The limit of key comparisons in one call of LMDB. No call on sound pages needs nearly as many.
inline constexpr int kComparisonsMax = 100'000;

// The point at which a thread continues after a fault in a call of LMDB.
struct FaultScope {
#ifdef GM_FAULT_SCOPE_KEEPS_BOOKS
  // The sanitizers intercept siglongjmp() and so learn which stack frames have ended. The jump must
  // restore the signal mask, because the thread sanitizer's handler, which calls ours, blocks every
  // signal.
  sigjmp_buf place;
#else
  // __builtin_setjmp() takes a tenth of sigsetjmp()'s time, which matters because a scan makes one
  // call for each entry.
  void* place[5];
#endif
  // The number of keys that the call may still compare. The comparison of keys (lmdb_opening.cc)
  // decrements this number, and ends the call when no comparison is left, because a damaged page
  // could make the call search for ever.
  int comparisons_left;
};

extern constinit thread_local FaultScope* current_fault_scope;

// Installs the handlers of SIGBUS and SIGSEGV. Within guarded(), the handlers end the call with
// leave_fault_scope(). But if MapGuard replaces a page of data.mdb by zeros after a SIGBUS, the
// call goes on and reads the zeros. Must be called before the first guarded(). Only the first call
// has an effect.
void install_fault_handler();

// Jumps out of the calling thread's current scope. Returns only if the thread has no scope. The
// callers are the signal handlers, the assertion handler that mdb_env_set_assert() sets, and the
// comparison of keys when no comparisons are left.
void leave_fault_scope();

// Runs `call` in a scope and returns its code, or kLmdbFault. `call` must be a lambda that calls
// one function of LMDB or reads mapped memory once, and has no objects with a destructor.
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
