#include "engine/local/format/entry_checksum.h"

#include <array>
#include <span>

#include "engine/checksum/crc32c.h"
#include "engine/local/format/keyspace.h"
#include "engine/local/format/raw_number.h"

namespace gridmount::local {
namespace {

uint32_t checksum_of(uint32_t tree) {
  const std::array<uint8_t, 4> number = {
      static_cast<uint8_t>(tree >> 24), static_cast<uint8_t>(tree >> 16),
      static_cast<uint8_t>(tree >> 8), static_cast<uint8_t>(tree)};
  return crc32c(number);
}

uint32_t checksum_of(uint32_t tree, std::string_view key) {
  return crc32c(bytes_of(key), checksum_of(tree));
}

}  // namespace

void append_entry_checksum(std::string& value, uint32_t tree, std::string_view key) {
  append_big_endian_32(value, crc32c(bytes_of(value), checksum_of(tree, key)));
}

bool has_entry_checksum(uint32_t tree, std::string_view key, std::string_view value) {
  if (value.size() < kEntryChecksumBytes) return false;
  const size_t covered = value.size() - kEntryChecksumBytes;
  // In a page the value follows the key directly, so one pass covers both.
  const bool adjoin = key.data() + key.size() == value.data();
  uint32_t checksum;
  if (adjoin) {
    checksum = checksum_of(tree, {key.data(), key.size() + covered});
  } else {
    checksum = crc32c(bytes_of(value.substr(0, covered)), checksum_of(tree, key));
  }
  return checksum == big_endian_32(value.substr(covered));
}

uint32_t key_checksum(uint32_t tree, std::string_view key) {
  return checksum_of(tree, key) & 0xFFFFFF;
}

}  // namespace gridmount::local
