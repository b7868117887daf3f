#include "engine/checksum/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

namespace gridmount {

uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t seed) {
  uint32_t state = ~seed;
  while (!bytes.empty()) {
    // The library counts in int; it reads only, whatever its parameter type says.
    const size_t size = std::min<size_t>(bytes.size(), std::numeric_limits<int>::max());
    state = crc32_iscsi(const_cast<unsigned char*>(bytes.data()), static_cast<int>(size), state);
    bytes = bytes.subspan(size);
  }
  return ~state;
}

}  // namespace gridmount
