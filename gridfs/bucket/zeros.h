// The bytes of holes.
#pragma once

#include <cstdint>
#include <span>

namespace gridmount::gridfs {

inline constexpr size_t kZeroBytes = 256 * 1024;

// A block of zeros, never written to.
inline std::span<const uint8_t> zeros() {
  static uint8_t block[kZeroBytes];  // not const: so it needs no room in the program's file
  return block;
}

}  // namespace gridmount::gridfs
