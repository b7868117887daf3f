// CRC-64 with the ECMA-182 polynomial, which mongodump's archives use for each collection: bits
// reflected, all bits set at the start and inverted at the end (known as CRC-64/XZ).
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <span>

namespace gridmount::tools {

class Crc64 {
 public:
  void add(std::span<const uint8_t> bytes);
  // Returns the checksum of everything added, or 0 if nothing was added.
  uint64_t value() const { return ~state_; }

 private:
  uint64_t state_ = ~uint64_t{0};
};

}  // namespace gridmount::tools
