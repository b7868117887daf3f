// The FIFO queue in which the threads of this process wait for their transactions (engine/store.h,
// S2). Transactions that enter with kShared run at the same time. Each of the others runs alone,
// because otherwise each try of a long transaction would conflict with a short one. The
// transactions of other processes are not in the queue. If one of them conflicts with a transaction
// of this process, the deployment refuses one of the two with WriteConflict.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <utility>

#include "engine/base/thread_safety.h"

namespace gridmount::mongo {

class TransactionQueue {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Turn { kAlone, kShared };
  struct Entry {
    Turn turn = Turn::kAlone;
  };
  // The queue's entry for one caller. It is the argument of leave().
  using Place = std::list<Entry>::const_iterator;

  // Waits until all earlier callers have called leave() or have given up. With kShared, waits only
  // for the earlier callers with kAlone. If the wait takes longer than `patience`, leaves the queue
  // and returns nothing.
  std::optional<Place> enter(Turn turn, std::chrono::milliseconds patience) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const Clock::time_point end = Clock::now() + patience;
    const Place place = entries_.insert(entries_.end(), Entry{turn});
    while (!has_turn(place)) {
      const Clock::time_point now = Clock::now();
      if (now >= end) {
        entries_.erase(place);
        left_.notify_all();
        return std::nullopt;
      }
      (void)left_.wait_for(mutex_, end - now);
    }
    return place;
  }
  void leave(Place place) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    entries_.erase(place);
    left_.notify_all();
  }

 private:
  bool has_turn(Place place) const GM_REQUIRES(mutex_) {
    if (place->turn == Turn::kAlone) return place == entries_.begin();
    for (Place before = entries_.begin(); before != place; ++before) {
      if (before->turn == Turn::kAlone) return false;
    }
    return true;
  }

  Mutex mutex_;
  Condition left_;
  // The entries in the order of the calls of enter(). The first entry has its turn.
  std::list<Entry> entries_ GM_GUARDED_BY(mutex_);
};

// Owns an entry in the queue: its destructor calls leave().
class QueuePlace {
 public:
  // Calls enter(). Returns nothing if enter() returns nothing.
  static std::optional<QueuePlace> wait_for(
      TransactionQueue& queue, std::chrono::milliseconds patience,
      TransactionQueue::Turn turn = TransactionQueue::Turn::kAlone) {
    const std::optional<TransactionQueue::Place> place = queue.enter(turn, patience);
    if (!place) return std::nullopt;
    return QueuePlace(queue, *place);
  }
  ~QueuePlace() {
    if (queue_ != nullptr) queue_->leave(place_);
  }
  QueuePlace(QueuePlace&& other) noexcept
      : queue_(std::exchange(other.queue_, nullptr)), place_(other.place_) {}
  QueuePlace& operator=(QueuePlace&& other) noexcept {
    std::swap(queue_, other.queue_);
    std::swap(place_, other.place_);
    return *this;
  }

 private:
  QueuePlace(TransactionQueue& queue, TransactionQueue::Place place)
      : queue_(&queue), place_(place) {}

  TransactionQueue* queue_;
  TransactionQueue::Place place_;
};

}  // namespace gridmount::mongo
