// Numbers as they stand in a store's files: the machine's own bytes, which are little-endian
// (FORMAT.md). The place must be within `bytes`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace gridmount::local {

template <typename T>
T load(std::span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <typename T>
void store(std::span<uint8_t> bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

}  // namespace gridmount::local
