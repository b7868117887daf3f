// The FIFO queue in which the threads of this process wait for their transaction (engine/store.h,
// S2). Other processes' transactions are not in it: they meet ours in the deployment, which refuses
// one of two with WriteConflict.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>

#include "engine/base/thread_safety.h"

namespace gridmount::mongo {

class TransactionQueue {
 public:
  using Clock = std::chrono::steady_clock;

  // Waits until all callers before have called leave() or have given up. Returns false, and leaves
  // the queue, if that takes longer than `patience`.
  bool enter(std::chrono::milliseconds patience) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const Clock::time_point end = Clock::now() + patience;
    const uint64_t number = last_++;
    waiting_.push_back(number);
    while (waiting_.front() != number) {
      const Clock::time_point now = Clock::now();
      if (now >= end) {
        waiting_.remove(number);
        return false;
      }
      (void)left_.wait_for(mutex_, end - now);
    }
    return true;
  }
  void leave() GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    waiting_.pop_front();
    left_.notify_all();
  }

 private:
  Mutex mutex_;
  Condition left_;
  uint64_t last_ GM_GUARDED_BY(mutex_) = 0;
  // The first one has its turn.
  std::list<uint64_t> waiting_ GM_GUARDED_BY(mutex_);
};

// A thread's turn in the queue, which it gives up at the end of this object.
class QueuePlace {
 public:
  // Returns nothing if enter() gives up.
  static std::optional<QueuePlace> wait_for(TransactionQueue& queue,
                                            std::chrono::milliseconds patience) {
    if (!queue.enter(patience)) return std::nullopt;
    return QueuePlace(queue);
  }
  ~QueuePlace() {
    if (queue_ != nullptr) queue_->leave();
  }
  QueuePlace(QueuePlace&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}
  QueuePlace& operator=(QueuePlace&& other) noexcept {
    std::swap(queue_, other.queue_);
    return *this;
  }

 private:
  explicit QueuePlace(TransactionQueue& queue) : queue_(&queue) {}

  TransactionQueue* queue_;
};

}  // namespace gridmount::mongo
