// CRC-32C (Castagnoli), the checksum of everything a store keeps and of the wire protocol's
// messages.
#pragma once

#include <cstdint>
#include <span>

namespace gridmount {

// The usual CRC-32C: initial value and final xor all ones; "123456789" gives 0xE3069283. Pass an
// earlier result as `seed` to go on where it ended.
uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t seed = 0);

}  // namespace gridmount
