// A growing buffer for the bytes of one message. The buffer does not initialize its memory. So
// bytes that a peer has announced but not sent take no physical memory.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

namespace gridmount::wire {

class MessageBytes {
 public:
  MessageBytes() = default;
  MessageBytes(MessageBytes&& other) noexcept { *this = std::move(other); }
  MessageBytes& operator=(MessageBytes&& other) noexcept;

  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  std::span<const uint8_t> bytes() const { return {data_.get(), size_}; }

  // Makes room for `capacity` bytes in total. Returns false, and changes nothing, if there is no
  // memory.
  [[nodiscard]] bool reserve(size_t capacity);
  // `size` must not exceed capacity(). The caller must write the added bytes.
  void set_size(size_t size) { size_ = size; }
  void append(const void* bytes, size_t count);  // the new size must not exceed capacity()
  // Frees the memory.
  void clear() { *this = MessageBytes(); }

 private:
  struct Free {
    void operator()(uint8_t* data) const { std::free(data); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace gridmount::wire
