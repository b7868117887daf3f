// CRC-64 with the ECMA-182 polynomial, as archives of mongodump have it for each collection: bits
// reflected, begun and ended with all bits set (in catalogues: CRC-64/XZ).
//
// Thread-safety: as for any value type.
#pragma once

#include <cstdint>
#include <span>

namespace gridmount::tools {

class Crc64 {
 public:
  void add(std::span<const uint8_t> bytes);
  // Of everything added; 0 if nothing was.
  uint64_t value() const { return ~state_; }

 private:
  uint64_t state_ = ~uint64_t{0};
};

}  // namespace gridmount::tools
