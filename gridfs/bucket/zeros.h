// The bytes of holes. Thread-safe.
#pragma once

#include <cstdint>
#include <span>

namespace gridmount::gridfs {

inline constexpr size_t kZeroBytes = 256 * 1024;

// Returns kZeroBytes zeros, which nobody may write to.
inline std::span<const uint8_t> zeros() {
  static uint8_t block[kZeroBytes];  // not const, so it takes no space in the executable file
  return block;
}

}  // namespace gridmount::gridfs
