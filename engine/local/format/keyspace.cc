#include "engine/local/format/keyspace.h"

#include <cstddef>

namespace gridmount::local {

void append_big_endian_32(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

void append_big_endian_64(std::string& out, uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

uint32_t big_endian_32(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

uint64_t big_endian_64(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

std::string keyspace_prefix(const Keyspace& keyspace) {
  std::string key;
  append_big_endian_32(key, keyspace.prefix);
  return key;
}

std::string keyspace_end(const Keyspace& keyspace) {
  std::string key;
  append_big_endian_32(key, keyspace.prefix + 1);
  return key;
}

}  // namespace gridmount::local
