// CRC-32C (Castagnoli): the checksum for all data of a store and for messages of the wire protocol.
//
// Thread-safety: a pure function.
#pragma once

#include <cstdint>
#include <span>

namespace gridmount {

// Returns the standard CRC-32C: initial value and final xor are all ones, and "123456789" gives
// 0xE3069283. To continue an earlier computation, pass its result as `seed`.
uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t seed = 0);

}  // namespace gridmount
