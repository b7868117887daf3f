#include "engine/wire/server/memory_budget.h"

#include <algorithm>
#include <memory>
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
  was_high_ = was_high_ || used_ > bytes_max_ / 4;
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

bool MemoryBudget::acquire_within(Reservation& reservation, size_t bytes,
                                  std::chrono::milliseconds patience) {
  struct Wait {
    Mutex mutex;
    Condition changed;
    bool is_over GM_GUARDED_BY(mutex) = false;
  };
  const auto wait = std::make_shared<Wait>();
  const auto tell = [wait] {
    const MutexLock lock(wait->mutex);
    wait->is_over = true;
    wait->changed.notify_all();
  };
  if (acquire(reservation, bytes, tell)) return true;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  {
    const MutexLock lock(wait->mutex);
    while (!wait->is_over) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) break;
      wait->changed.wait_for(wait->mutex, left);
    }
    if (wait->is_over) return true;
  }
  std::deque<Waiter> ready;
  {
    const MutexLock lock(mutex_);
    const auto found = std::find_if(queue_.begin(), queue_.end(), [&](const Waiter& waiter) {
      return waiter.reservation == &reservation;
    });
    // The reservation has received the bytes in the meantime.
    if (found == queue_.end()) return true;
    queue_.erase(found);
    // Others behind it may need fewer bytes.
    ready = grant();
  }
  for (const Waiter& waiter : ready) waiter.granted();
  return false;
}

size_t MemoryBudget::acquire_share(Reservation& reservation, size_t wanted) {
  const MutexLock lock(mutex_);
  const size_t free = used_ < bytes_max_ ? bytes_max_ - used_ : 0;
  const size_t share = std::min(wanted, std::max(free / 4, kAlwaysBytes));
  take(reservation, share);
  return share;
}

void MemoryBudget::settle(Reservation& reservation, size_t bytes) {
  std::deque<Waiter> ready;
  {
    const MutexLock lock(mutex_);
    used_ -= std::exchange(reservation.bytes_, 0);
    take(reservation, bytes);
    ready = grant();
  }
  for (const Waiter& waiter : ready) waiter.granted();
}

bool MemoryBudget::was_high() {
  const MutexLock lock(mutex_);
  return std::exchange(was_high_, used_ > bytes_max_ / 4);
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
