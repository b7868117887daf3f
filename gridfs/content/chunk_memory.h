// Memory for chunks that the store does not have yet: buffers within a hard budget. Buffers are
// kept for reuse, because the first touch of fresh memory costs as much as copying into it.
//
// ChunkMemory is thread-safe. ChunkBuffer says what guards the bytes of a buffer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/thread_safety.h"

namespace gridmount::gridfs {

class ChunkMemory;

// Memory for one chunk document. The holder of a ChunkPin may read, from any thread, the bytes that
// were content when the pin was made. The file that owns the chunk may write the other bytes at any
// time, but the content bytes only while pinned() is false.
class ChunkBuffer {
 public:
  ChunkBuffer(std::shared_ptr<ChunkMemory> memory, std::unique_ptr<uint8_t[]> bytes,
              size_t capacity);
  ~ChunkBuffer();
  ChunkBuffer(const ChunkBuffer&) = delete;
  ChunkBuffer& operator=(const ChunkBuffer&) = delete;

  uint8_t* bytes() const { return bytes_.get(); }
  size_t capacity() const { return capacity_; }
  // If this returns false, no former holder of a pin uses the bytes any more.
  bool pinned() const { return pins_.load(std::memory_order_acquire) != 0; }

 private:
  friend class ChunkPin;

  const std::shared_ptr<ChunkMemory> memory_;
  std::unique_ptr<uint8_t[]> bytes_;
  const size_t capacity_;
  std::atomic<uint32_t> pins_{0};
};

class ChunkPin {
 public:
  ChunkPin() = default;
  explicit ChunkPin(std::shared_ptr<ChunkBuffer> buffer) : buffer_(std::move(buffer)) {
    buffer_->pins_.fetch_add(1, std::memory_order_relaxed);
  }
  ChunkPin(ChunkPin&&) noexcept = default;
  ChunkPin& operator=(ChunkPin&& other) noexcept {
    release();
    buffer_ = std::move(other.buffer_);
    return *this;
  }
  ~ChunkPin() { release(); }

 private:
  void release() {
    if (buffer_) buffer_->pins_.fetch_sub(1, std::memory_order_release);
    buffer_.reset();
  }

  std::shared_ptr<ChunkBuffer> buffer_;
};

class ChunkMemory : public std::enable_shared_from_this<ChunkMemory> {
 public:
  explicit ChunkMemory(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Returns a buffer, or null if the budget is spent. A buffer larger than the whole budget is
  // granted only while no other buffer is in use.
  std::shared_ptr<ChunkBuffer> try_acquire(size_t capacity) GM_EXCLUDES(mutex_);
  // Waits until a buffer has been released since the last failed call of try_acquire(),
  // but at most for `patience`.
  void wait_for_release(std::chrono::milliseconds patience) GM_EXCLUDES(mutex_);

  // Returns the bytes in buffers that are in use. The result never exceeds the budget, except as
  // try_acquire() says.
  uint64_t bytes_in_use() const GM_EXCLUDES(mutex_);
  // Frees the buffers kept for reuse, unless try_acquire() was called since the last trim(). In
  // that case returns true, and the caller should call again later.
  bool trim() GM_EXCLUDES(mutex_);

 private:
  friend class ChunkBuffer;
  void release(std::unique_ptr<uint8_t[]> bytes, size_t capacity) GM_EXCLUDES(mutex_);

  struct Spare {
    std::unique_ptr<uint8_t[]> bytes;
    size_t capacity;
  };

  const uint64_t bytes_max_;
  mutable Mutex mutex_;
  Condition released_;
  uint64_t releases_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t refused_at_ GM_GUARDED_BY(mutex_) = 0;  // releases_ when try_acquire() last failed
  uint64_t in_use_ GM_GUARDED_BY(mutex_) = 0;
  // in_use_ + kept_ <= bytes_max_, except as try_acquire() says.
  uint64_t kept_ GM_GUARDED_BY(mutex_) = 0;
  std::vector<Spare> spare_ GM_GUARDED_BY(mutex_);
  bool asked_ GM_GUARDED_BY(mutex_) = false;
};

}  // namespace gridmount::gridfs
