#include "gridfs/content/chunk_memory.h"

#include <malloc.h>

#include <algorithm>
#include <new>
#include <utility>

namespace gridmount::gridfs {

ChunkBuffer::ChunkBuffer(std::shared_ptr<ChunkMemory> memory, std::unique_ptr<uint8_t[]> bytes,
                         size_t capacity)
    : memory_(std::move(memory)), bytes_(std::move(bytes)), capacity_(capacity) {}

ChunkBuffer::~ChunkBuffer() {
  memory_->release(std::move(bytes_), capacity_);
}

std::shared_ptr<ChunkBuffer> ChunkMemory::try_acquire(size_t capacity) {
  std::unique_ptr<uint8_t[]> bytes;
  std::vector<Spare> dropped;  // freed after the lock
  {
    MutexLock lock(mutex_);
    asked_ = true;
    if (in_use_ != 0 && in_use_ + capacity > bytes_max_) {
      refused_at_ = releases_;
      return nullptr;
    }
    // The buffer released last is the likeliest to be in the processor's cache.
    const auto same = std::find_if(spare_.rbegin(), spare_.rend(),
                                   [&](const Spare& spare) { return spare.capacity == capacity; });
    if (same != spare_.rend()) {
      bytes = std::move(same->bytes);
      kept_ -= capacity;
      spare_.erase(std::next(same).base());
    }
    while (!spare_.empty() && in_use_ + capacity + kept_ > bytes_max_) {
      dropped.push_back(std::move(spare_.back()));
      spare_.pop_back();
      kept_ -= dropped.back().capacity;
    }
    in_use_ += capacity;
  }
  try {
    if (!bytes) bytes = std::make_unique_for_overwrite<uint8_t[]>(capacity);
    return std::make_shared<ChunkBuffer>(shared_from_this(), std::move(bytes), capacity);
  } catch (const std::bad_alloc&) {
    // No buffer exists that would release these bytes.
    MutexLock lock(mutex_);
    in_use_ -= capacity;
    throw;
  }
}

void ChunkMemory::release(std::unique_ptr<uint8_t[]> bytes, size_t capacity) {
  MutexLock lock(mutex_);
  in_use_ -= capacity;
  ++releases_;
  if (in_use_ + kept_ + capacity <= bytes_max_) {
    try {
      spare_.push_back({std::move(bytes), capacity});
      kept_ += capacity;
    } catch (const std::bad_alloc&) {
      // The buffer is freed. A destructor calls this function, so nothing may be thrown.
    }
  }
  released_.notify_all();
}

void ChunkMemory::wait_for_release(std::chrono::milliseconds patience) {
  MutexLock lock(mutex_);
  if (releases_ == refused_at_) released_.wait_for(mutex_, patience);
}

uint64_t ChunkMemory::bytes_in_use() const {
  MutexLock lock(mutex_);
  return in_use_;
}

bool ChunkMemory::trim() {
  std::vector<Spare> dropped;
  {
    MutexLock lock(mutex_);
    if (std::exchange(asked_, false)) return true;
    dropped.swap(spare_);
    kept_ = 0;
  }
  if (!dropped.empty()) {
    dropped.clear();
    malloc_trim(0);
  }
  return false;
}

}  // namespace gridmount::gridfs
