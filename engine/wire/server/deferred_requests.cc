#include "engine/wire/server/deferred_requests.h"

#include <algorithm>
#include <asio/post.hpp>

namespace gridmount::wire {
namespace {

using std::chrono::steady_clock;

// Limits how often waiting cursors are resumed. Otherwise a thousand cursors would run again for
// each of a thousand small commits per second.
constexpr std::chrono::milliseconds kBetweenWakes{2};
// A request deferred until a time in the past is resumed after this time, which prevents a busy
// loop.
constexpr std::chrono::milliseconds kShortestStay{1};

}  // namespace

DeferredRequests::DeferredRequests(asio::io_context& io) : io_(io) {
  timer_.emplace(io);
  wake_timer_.emplace(io);
}

bool DeferredRequests::defer(std::shared_ptr<Deferrable> deferred, const Deferral& deferral) {
  const TimePoint until = std::max(deferral.until, steady_clock::now() + kShortestStay);
  const MutexLock lock(mutex_);
  if (is_stopped_) return false;
  const Deferrable* const key = deferred.get();
  entries_.insert_or_assign(key, DeferredEntry{std::move(deferred), until});
  by_time_.emplace(until, key);
  if (deferral.wakes == Deferral::Wakes::kByChange) for_change_.insert(key);
  arm();
  return true;
}

bool DeferredRequests::remove(const Deferrable& deferred) {
  std::shared_ptr<Deferrable> removed;  // destroyed after the lock is released
  const MutexLock lock(mutex_);
  removed = take(&deferred);
  return removed != nullptr;
}

std::shared_ptr<Deferrable> DeferredRequests::take(const Deferrable* key) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return nullptr;
  std::shared_ptr<Deferrable> deferred = std::move(entry->second.deferred);
  by_time_.erase({entry->second.until, key});
  for_change_.erase(key);
  entries_.erase(entry);
  return deferred;
}

void DeferredRequests::notify() {
  const MutexLock lock(mutex_);
  if (is_stopped_ || for_change_.empty() || wake_is_due_) return;
  wake_is_due_ = true;
  const TimePoint due = last_wake_ + kBetweenWakes;
  if (steady_clock::now() >= due) {
    asio::post(io_, [self = shared_from_this()] { self->wake(); });
    return;
  }
  wake_timer_->expires_at(due);
  wake_timer_->async_wait([self = shared_from_this()](std::error_code error) {
    if (!error) self->wake();
  });
}

void DeferredRequests::wake() {
  Resumed resumed;
  {
    const MutexLock lock(mutex_);
    wake_is_due_ = false;
    last_wake_ = steady_clock::now();
    resumed = take_waiting_for_change();
  }
  for (const auto& deferred : resumed) deferred->resume();
}

void DeferredRequests::stop() {
  Resumed resumed;
  {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
    timer_.reset();
    wake_timer_.reset();
    resumed = take_all();
  }
  for (const auto& deferred : resumed) deferred->resume();
}

DeferredRequests::Resumed DeferredRequests::take_all() {
  Resumed resumed;
  resumed.reserve(entries_.size());
  for (auto& [key, entry] : entries_) resumed.push_back(std::move(entry.deferred));
  entries_.clear();
  by_time_.clear();
  for_change_.clear();
  return resumed;
}

DeferredRequests::Resumed DeferredRequests::take_waiting_for_change() {
  Resumed resumed;
  resumed.reserve(for_change_.size());
  while (!for_change_.empty()) resumed.push_back(take(*for_change_.begin()));
  return resumed;
}

void DeferredRequests::arm() {
  if (by_time_.empty()) return;
  const TimePoint earliest = by_time_.begin()->first;
  if (armed_for_ && *armed_for_ <= earliest) return;
  armed_for_ = earliest;
  timer_->expires_at(earliest);
  timer_->async_wait([self = shared_from_this()](std::error_code error) {
    if (!error) self->on_time();
  });
}

void DeferredRequests::on_time() {
  Resumed resumed;
  {
    const MutexLock lock(mutex_);
    if (is_stopped_) return;
    armed_for_.reset();
    const TimePoint now = steady_clock::now();
    while (!by_time_.empty() && by_time_.begin()->first <= now) {
      resumed.push_back(take(by_time_.begin()->second));
    }
    arm();
  }
  for (const auto& deferred : resumed) deferred->resume();
}

}  // namespace gridmount::wire
