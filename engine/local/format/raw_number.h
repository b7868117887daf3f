// Reads and writes the little-endian numbers of a store's files (FORMAT.md), which have the byte
// order of the machine. keyspace.h has the functions for big-endian numbers. The caller must make
// sure that the number is within `bytes`.
//
// Thread-safety: functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace gridmount::local {

// Returns the bytes of the text, without a copy.
inline std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

template <typename T>
T load(std::span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <typename T>
T load(std::string_view bytes, size_t offset) {
  return load<T>(bytes_of(bytes), offset);
}

template <typename T>
void store(std::span<uint8_t> bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

}  // namespace gridmount::local
