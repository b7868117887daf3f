// A limit for the bytes of messages that the server has in memory at one time. A reservation
// waits in a queue if it needs more bytes than are free, or if other reservations already wait.
// acquire() does not block the thread meanwhile.
//
// Invariant: the total is at most bytes_max plus the following:
// - the bytes of charge() and settle(), which have no limit;
// - kAlwaysBytes for each reservation;
// - kAlwaysBytes for each call of acquire_share();
// - the bytes of one reservation, which was the first in the queue and may exceed the budget.
//   Without this exception, half-read messages that together fill the budget could wait for one
//   another for ever.
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
  // A request for bytes never waits if the reservation has at most this size afterwards, so small
  // messages never wait.
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

  // Adds `bytes` to the reservation. Returns true if the reservation gets the bytes without
  // waiting. Otherwise puts the reservation into the queue, and returns false. When the reservation
  // gets the bytes, `granted` is called: by this thread before acquire() returns, or later by
  // another thread that uses the budget. Until this call, the reservation must be neither used nor
  // destroyed. If the budget is used up, a request for zero bytes waits too.
  bool acquire(Reservation& reservation, size_t bytes, std::function<void()> granted);
  // Like acquire(), but blocks the thread until the reservation has the bytes. If this takes longer
  // than `patience`, adds nothing and returns false.
  bool acquire_within(Reservation& reservation, size_t bytes, std::chrono::milliseconds patience);
  // Adds bytes to the reservation without waiting, and returns how many: a quarter of the free
  // bytes, so that many requests get some, or kAlwaysBytes if this is more, but at most `wanted`.
  size_t acquire_share(Reservation& reservation, size_t wanted);
  // Adds the bytes without waiting and without a limit, for memory that the server must have.
  void charge(Reservation& reservation, size_t bytes);
  // Sets the size of the reservation to `bytes`, without waiting and without a limit. If the
  // reservation has more bytes, releases the surplus.
  void settle(Reservation& reservation, size_t bytes);
  // Releases all bytes of the reservation. Must be called before a reservation with bytes is
  // destroyed.
  void release(Reservation& reservation);

  // Returns true if a reservation waits. Then the server waits for a shorter time before it ends
  // connections that hold bytes and make no progress.
  bool is_waited_for() const { return waiting_.load(std::memory_order_relaxed) > 0; }
  size_t used() const;
  // Returns whether more than a quarter of the budget was in use at some time since the last call
  // of this function.
  bool was_high();

  // Grants all waiting and all later reservations.
  void stop();

 private:
  struct Waiter {
    Reservation* reservation;
    size_t bytes;
    std::function<void()> granted;
  };

  bool fits(const Reservation& reservation, size_t bytes) const GM_REQUIRES(mutex_);
  void take(Reservation& reservation, size_t bytes) GM_REQUIRES(mutex_);
  // Removes the waiters that can be granted from the queue and returns them. The caller must call
  // their `granted` without the lock.
  std::deque<Waiter> grant() GM_REQUIRES(mutex_);

  const size_t bytes_max_;
  mutable Mutex mutex_;
  size_t used_ GM_GUARDED_BY(mutex_) = 0;
  bool was_high_ GM_GUARDED_BY(mutex_) = false;  // since the last call of was_high()
  // True if a reservation may exceed the budget.
  bool is_overdrawn_ GM_GUARDED_BY(mutex_) = false;
  bool is_stopped_ GM_GUARDED_BY(mutex_) = false;
  std::deque<Waiter> queue_ GM_GUARDED_BY(mutex_);
  std::atomic<size_t> waiting_ = 0;  // size of queue_, readable without the lock
};

}  // namespace gridmount::wire
