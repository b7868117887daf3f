// The layout of elements in a document, for all code that writes BSON. A document or an array is
// its length (four bytes), its elements and a NUL. An element is a type, a key with its NUL, and a
// value. Source: bsonspec.org, version 1.1.
//
// Thread-safety: functions without state. An ArrayKey belongs to one thread.
#pragma once

#include <cassert>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/bson/value.h"

namespace gridmount::bson {

inline constexpr size_t kLengthBytes = 4;

inline void append_bytes(std::vector<uint8_t>& bytes, const void* data, size_t size) {
  const auto* const from = static_cast<const uint8_t*>(data);
  bytes.insert(bytes.end(), from, from + size);
}

// Appends type and key. The caller must append the value's bytes next. `key` must not have a NUL.
inline void append_element_head(std::vector<uint8_t>& bytes, Type type, std::string_view key) {
  const size_t at = bytes.size();
  bytes.resize(at + 1 + key.size() + 1);
  bytes[at] = static_cast<uint8_t>(type);
  if (!key.empty()) std::memcpy(bytes.data() + at + 1, key.data(), key.size());
}
inline constexpr size_t element_head_bytes(std::string_view key) {
  return 1 + key.size() + 1;
}

// Begins a document or an array: appends four bytes, into which end_document() writes the length.
// Returns the offset of these bytes.
inline size_t begin_document(std::vector<uint8_t>& bytes) {
  const size_t begin = bytes.size();
  bytes.resize(begin + kLengthBytes);
  return begin;
}
// Ends the document or array that begins at `begin`: appends the NUL and writes the length.
inline void end_document(std::vector<uint8_t>& bytes, size_t begin) {
  bytes.push_back(0);
  const auto length = static_cast<uint32_t>(bytes.size() - begin);
  std::memcpy(bytes.data() + begin, &length, sizeof length);
}

// The keys of an array: "0", "1", ...
class ArrayKey {
 public:
  // The key is valid until the next call.
  std::string_view of(uint32_t position) {
    const auto [end, error] = std::to_chars(text_, text_ + sizeof text_, position);
    assert(error == std::errc());
    (void)error;
    return {text_, static_cast<size_t>(end - text_)};
  }

 private:
  char text_[16];
};

}  // namespace gridmount::bson
