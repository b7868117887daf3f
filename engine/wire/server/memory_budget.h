// A limit for the bytes of messages that the server holds at one time. A request that needs more
// than is free waits in a queue, without blocking a thread.
//
// Invariant: the total is at most bytes_max, plus these:
// - what charge() and settle() have taken, which have no limit;
// - kAlwaysBytes for each reservation;
// - kAlwaysBytes for each call of acquire_share();
// - one reservation that may exceed the budget. That reservation was at the head of the queue.
//   Without it, half-read messages that fill the budget together could wait for one another
//   forever.
// After stop() there is no limit.
//
// Thread-safe, except that a Reservation must be used by one thread at a time.
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
  // A reservation up to this size never waits, so small messages never do.
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

  // Returns true if the reservation has the additional bytes now. Otherwise the reservation is
  // queued, and `granted` is called once it has the bytes, by the thread that releases other bytes.
  // Until then the reservation must not be used. A request for zero bytes also waits while the
  // budget is used up.
  bool acquire(Reservation& reservation, size_t bytes, std::function<void()> granted);
  // Like acquire(), but blocks the thread for at most `patience`. Returns false if it did not get
  // the bytes in that time.
  bool acquire_within(Reservation& reservation, size_t bytes, std::chrono::milliseconds patience);
  // Takes a part of the free bytes: at most `wanted`, and never less than a minimum, so that many
  // requests get some. Returns the number of bytes added to the reservation.
  size_t acquire_share(Reservation& reservation, size_t wanted);
  // Adds the bytes without waiting and without a limit, for memory that the server needs in any
  // case.
  void charge(Reservation& reservation, size_t bytes);
  // Sets the reservation to `bytes` in total without waiting, and releases what it has beyond that.
  void settle(Reservation& reservation, size_t bytes);
  void release(Reservation& reservation);

  // Returns true if a reservation waits. The server then ends connections sooner that hold bytes
  // without making progress.
  bool is_waited_for() const { return waiting_.load(std::memory_order_relaxed) > 0; }
  size_t used() const;
  // Returns whether use was high at some time since the last call.
  bool was_high();

  // Grants everything that waits, and everything from now on.
  void stop();

 private:
  struct Waiter {
    Reservation* reservation;
    size_t bytes;
    std::function<void()> granted;
  };

  bool fits(const Reservation& reservation, size_t bytes) const GM_REQUIRES(mutex_);
  void take(Reservation& reservation, size_t bytes) GM_REQUIRES(mutex_);
  // Takes the waiters that can be granted from the queue. The caller calls their `granted` without
  // the lock.
  std::deque<Waiter> grant() GM_REQUIRES(mutex_);

  const size_t bytes_max_;
  mutable Mutex mutex_;
  size_t used_ GM_GUARDED_BY(mutex_) = 0;
  bool was_high_ GM_GUARDED_BY(mutex_) = false;  // since the last call of was_high()
  // True if some reservation holds the right to exceed the budget.
  bool is_overdrawn_ GM_GUARDED_BY(mutex_) = false;
  bool is_stopped_ GM_GUARDED_BY(mutex_) = false;
  std::deque<Waiter> queue_ GM_GUARDED_BY(mutex_);
  std::atomic<size_t> waiting_ = 0;  // size of queue_, readable without the lock
};

}  // namespace gridmount::wire
