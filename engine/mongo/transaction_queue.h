// The FIFO queue in which the threads of this process wait for their transaction (engine/store.h,
// S2). Other processes' transactions are not in it: they meet ours in the deployment, which refuses
// one of two with WriteConflict.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <utility>

#include "engine/base/thread_safety.h"

namespace gridmount::mongo {

class TransactionQueue {
 public:
  // Returns when all callers before have called leave().
  void enter() GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const uint64_t number = last_++;
    while (number != served_) left_.wait(mutex_);
  }
  void leave() GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++served_;
    left_.notify_all();
  }

 private:
  Mutex mutex_;
  Condition left_;
  uint64_t last_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t served_ GM_GUARDED_BY(mutex_) = 0;
};

// A thread's turn in the queue, which it gives up at the end of this object.
class QueuePlace {
 public:
  explicit QueuePlace(TransactionQueue& queue) : queue_(&queue) { queue.enter(); }
  ~QueuePlace() {
    if (queue_ != nullptr) queue_->leave();
  }
  QueuePlace(QueuePlace&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}
  QueuePlace& operator=(QueuePlace&&) = delete;

 private:
  TransactionQueue* queue_;
};

}  // namespace gridmount::mongo
