#include "engine/checksum/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace gridmount {
namespace {

// For fewer bytes, the library's fixed cost for each call is larger than the time that it saves.
constexpr size_t kFewBytes = 128;

#if defined(__x86_64__)

// Uses the processor's instruction.
__attribute__((target("sse4.2"))) uint32_t crc32c_of_few(std::span<const uint8_t> bytes,
                                                         uint32_t state) {
  uint64_t wide = state;
  const uint8_t* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  auto narrow = static_cast<uint32_t>(wide);
  for (; left > 0; --left, ++at) narrow = __builtin_ia32_crc32qi(narrow, *at);
  return narrow;
}

const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;

#else

constexpr bool has_instruction = false;
uint32_t crc32c_of_few(std::span<const uint8_t>, uint32_t state) {
  return state;
}

#endif

}  // namespace

uint32_t crc32c(std::span<const uint8_t> bytes, uint32_t seed) {
  uint32_t state = ~seed;
  if (bytes.size() < kFewBytes && has_instruction) return ~crc32c_of_few(bytes, state);
  while (!bytes.empty()) {
    // The library takes the size as an int. It only reads the bytes, although its parameter is not
    // const.
    const size_t size = std::min<size_t>(bytes.size(), std::numeric_limits<int>::max());
    state = crc32_iscsi(const_cast<unsigned char*>(bytes.data()), static_cast<int>(size), state);
    bytes = bytes.subspan(size);
  }
  return ~state;
}

}  // namespace gridmount
