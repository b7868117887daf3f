// How many bytes of messages the server holds at one time. Whoever would take more waits its turn
// without a thread.
//
// Invariant: at most bytes_max, and beyond it what charge() takes, kAlwaysBytes of each
// reservation, and one reservation that may overdraw. That one is the head of the queue: so
// messages that are each half read and fill the budget together cannot wait for one another for
// ever.
//
// Thread-safe, apart from a Reservation, which is used by one thread at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>

#include "engine/base/thread_safety.h"

namespace gridmount::wire {

class MemoryBudget {
 public:
  // A small message never waits.
  static constexpr size_t kAlwaysBytes = 16 * 1024;

  class Reservation {
   public:
    size_t bytes() const { return bytes_; }

   private:
    friend class MemoryBudget;
    size_t bytes_ = 0;
    bool may_overdraw_ = false;
  };

  explicit MemoryBudget(size_t bytes_max) : bytes_max_(bytes_max) {}

  // True if the reservation has the additional bytes. Else it waits, and `granted` is called once
  // it has them, by a thread that releases others; the reservation is to be left alone until then.
  // Zero bytes wait as well, while the budget is used up.
  bool acquire(Reservation& reservation, size_t bytes, std::function<void()> granted);
  // The same by a thread that waits, for `patience` at most. False if it has not got them by then.
  bool acquire_within(Reservation& reservation, size_t bytes, std::chrono::milliseconds patience);
  // A part of what is free, so that many get some, and `wanted` at most; a little always. Returns
  // how many the reservation has in addition.
  size_t acquire_share(Reservation& reservation, size_t wanted);
  // Takes the bytes without waiting, for what has to be held anyway.
  void charge(Reservation& reservation, size_t bytes);
  // The same of what it has to have in all; gives back what it has beyond.
  void settle(Reservation& reservation, size_t bytes);
  void release(Reservation& reservation);

  // Somebody waits: who holds bytes and does nothing with them is in the way.
  bool is_waited_for() const { return waiting_.load(std::memory_order_relaxed) > 0; }
  size_t used() const;
  // Much was in use since this was last true, and little is now.
  bool has_fallen();

  // Grants all that waits, and everything from now on.
  void stop();

 private:
  struct Waiter {
    Reservation* reservation;
    size_t bytes;
    std::function<void()> granted;
  };

  bool fits(const Reservation& reservation, size_t bytes) const GM_REQUIRES(mutex_);
  void take(Reservation& reservation, size_t bytes) GM_REQUIRES(mutex_);
  // Takes those out of the queue whose turn it is, to be called without the lock.
  std::deque<Waiter> grant() GM_REQUIRES(mutex_);

  const size_t bytes_max_;
  mutable Mutex mutex_;
  size_t used_ GM_GUARDED_BY(mutex_) = 0;
  bool was_high_ GM_GUARDED_BY(mutex_) = false;
  bool is_overdrawn_ GM_GUARDED_BY(mutex_) = false;  // somebody holds the right to overdraw
  bool is_stopped_ GM_GUARDED_BY(mutex_) = false;
  std::deque<Waiter> queue_ GM_GUARDED_BY(mutex_);
  std::atomic<size_t> waiting_ = 0;  // queue_'s size, for looking without the lock
};

}  // namespace gridmount::wire
