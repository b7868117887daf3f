#include "engine/wire/server/memory_budget.h"

#include <utility>

namespace gridmount::wire {

bool MemoryBudget::fits(const Reservation& reservation, size_t bytes) const {
  if (is_stopped_ || reservation.may_overdraw_) return true;
  if (bytes > 0 && reservation.bytes_ + bytes <= kAlwaysBytes) return true;
  return used_ < bytes_max_ && bytes <= bytes_max_ - used_;
}

void MemoryBudget::take(Reservation& reservation, size_t bytes) {
  reservation.bytes_ += bytes;
  used_ += bytes;
}

bool MemoryBudget::acquire(Reservation& reservation, size_t bytes, std::function<void()> granted) {
  std::deque<Waiter> ready;
  {
    const MutexLock lock(mutex_);
    const bool is_small = bytes > 0 && reservation.bytes_ + bytes <= kAlwaysBytes;
    const bool is_first = queue_.empty() || is_small || reservation.may_overdraw_;
    if (is_first && fits(reservation, bytes)) {
      take(reservation, bytes);
      return true;
    }
    queue_.push_back({&reservation, bytes, std::move(granted)});
    ready = grant();
  }
  for (const Waiter& waiter : ready) waiter.granted();
  return false;
}

void MemoryBudget::charge(Reservation& reservation, size_t bytes) {
  const MutexLock lock(mutex_);
  take(reservation, bytes);
}

void MemoryBudget::release(Reservation& reservation) {
  if (reservation.bytes_ == 0 && !reservation.may_overdraw_) return;
  std::deque<Waiter> ready;
  {
    const MutexLock lock(mutex_);
    used_ -= std::exchange(reservation.bytes_, 0);
    if (std::exchange(reservation.may_overdraw_, false)) is_overdrawn_ = false;
    ready = grant();
  }
  for (const Waiter& waiter : ready) waiter.granted();
}

std::deque<MemoryBudget::Waiter> MemoryBudget::grant() {
  std::deque<Waiter> ready;
  while (!queue_.empty()) {
    Waiter& next = queue_.front();
    if (!fits(*next.reservation, next.bytes)) {
      if (is_overdrawn_) break;
      is_overdrawn_ = true;
      next.reservation->may_overdraw_ = true;
    }
    take(*next.reservation, next.bytes);
    ready.push_back(std::move(next));
    queue_.pop_front();
  }
  waiting_.store(queue_.size(), std::memory_order_relaxed);
  return ready;
}

size_t MemoryBudget::used() const {
  const MutexLock lock(mutex_);
  return used_;
}

void MemoryBudget::stop() {
  std::deque<Waiter> ready;
  {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
    ready = grant();
  }
  for (const Waiter& waiter : ready) waiter.granted();
}

}  // namespace gridmount::wire
