// Clang's thread-safety annotations, and the mutex types that carry them. Every field that a mutex
// protects names the mutex with GM_GUARDED_BY, and the clang build checks that the field is used
// only with the mutex held.
//
// Thread-safety: the mutexes and Condition are thread-safe. A lock object belongs to one thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "engine/base/invariant.h"
#include "engine/base/store_hold.h"

#if defined(__clang__)
#define GM_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define GM_THREAD_ATTRIBUTE(x)
#endif

#define GM_CAPABILITY(x) GM_THREAD_ATTRIBUTE(capability(x))
#define GM_SCOPED_CAPABILITY GM_THREAD_ATTRIBUTE(scoped_lockable)
#define GM_GUARDED_BY(x) GM_THREAD_ATTRIBUTE(guarded_by(x))
#define GM_PT_GUARDED_BY(x) GM_THREAD_ATTRIBUTE(pt_guarded_by(x))
#define GM_REQUIRES(...) GM_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define GM_REQUIRES_SHARED(...) GM_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define GM_ACQUIRE(...) GM_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define GM_ACQUIRE_SHARED(...) GM_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define GM_RELEASE(...) GM_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define GM_RELEASE_GENERIC(...) GM_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define GM_TRY_ACQUIRE(...) GM_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define GM_EXCLUDES(...) GM_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define GM_NO_THREAD_SAFETY_ANALYSIS GM_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace gridmount {

// kHeldOverReads marks a lock that a thread may hold while it begins to read or to write a store. A
// thread with a short transaction or a short snapshot, which a StoreHold marks, must not wait for
// such a lock (engine/store.h, S6). All other locks are kOrdinary.
enum class LockUse { kOrdinary, kHeldOverReads };

class GM_CAPABILITY("mutex") Mutex {
 public:
  explicit Mutex(LockUse use = LockUse::kOrdinary) : use_(use) {}

  void lock() GM_ACQUIRE() {
    GM_COSTLY_INVARIANT("S6", use_ == LockUse::kOrdinary || !StoreHold::is_held(),
                        "a lock that is held over reads");
    mutex_.lock();
  }
  void unlock() GM_RELEASE() { mutex_.unlock(); }
  bool try_lock() GM_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  [[maybe_unused]] const LockUse use_;
  std::mutex mutex_;
};

class GM_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) GM_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() GM_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class GM_CAPABILITY("mutex") SharedMutex {
 public:
  void lock() GM_ACQUIRE() { mutex_.lock(); }
  void unlock() GM_RELEASE() { mutex_.unlock(); }
  void lock_shared() GM_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void unlock_shared() GM_RELEASE_GENERIC() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

class GM_SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) GM_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~WriterLock() GM_RELEASE() { mutex_.unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class GM_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) GM_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReaderLock() GM_RELEASE_GENERIC() { mutex_.unlock_shared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// A condition variable for a Mutex. wait() releases the mutex while it waits. The caller writes the
// loop over the condition, so that the analysis sees the guarded fields that the condition reads:
//   MutexLock lock(mutex_); while (!ready_) changed_.wait(mutex_);
class Condition {
 public:
  void wait(Mutex& mutex) GM_REQUIRES(mutex) { condition_.wait(mutex); }
  // Returns false if the duration passed without a notification.
  template <typename Duration>
  bool wait_for(Mutex& mutex, Duration duration) GM_REQUIRES(mutex) {
    return condition_.wait_for(mutex, duration) == std::cv_status::no_timeout;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace gridmount
