#include "engine/wire/protocol/message_bytes.h"

#include <cassert>
#include <cstring>
#include <utility>

namespace gridmount::wire {

MessageBytes& MessageBytes::operator=(MessageBytes&& other) noexcept {
  data_ = std::move(other.data_);
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, 0);
  return *this;
}

bool MessageBytes::reserve(size_t capacity) {
  if (capacity <= capacity_) return true;
  // For large blocks the kernel moves page table entries and copies nothing.
  void* const grown = std::realloc(data_.get(), capacity);
  if (grown == nullptr) return false;
  (void)data_.release();
  data_.reset(static_cast<uint8_t*>(grown));
  capacity_ = capacity;
  return true;
}

void MessageBytes::append(const void* bytes, size_t count) {
  assert(count <= capacity_ - size_);
  if (count == 0) return;
  std::memcpy(data_.get() + size_, bytes, count);
  size_ += count;
}

}  // namespace gridmount::wire
