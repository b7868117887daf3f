#include "tools/gridstore/dump/crc64.h"

#include <array>
#include <cstring>

namespace gridmount::tools {

namespace {

constexpr uint64_t kPolynomial = 0xC96C5795D7870F42;
constexpr size_t kSlices = 8;  // byte by byte, add() would be slower than reading the store

using Tables = std::array<std::array<uint64_t, 256>, kSlices>;

// The n-th table is for a byte that is followed by n zero bytes.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint64_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

void Crc64::add(std::span<const uint8_t> bytes) {
  uint64_t crc = state_;
  while (bytes.size() >= kSlices) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    word ^= crc;
    crc = 0;
    for (size_t slice = 0; slice < kSlices; ++slice) {
      crc ^= kTables[kSlices - 1 - slice][(word >> (8 * slice)) & 0xFF];
    }
    bytes = bytes.subspan(kSlices);
  }
  for (const uint8_t byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ byte) & 0xFF];
  state_ = crc;
}

}  // namespace gridmount::tools
