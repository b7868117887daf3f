#include "engine/query/pipeline/key_hash.h"

#include <cstring>

namespace gridmount::query {

uint64_t hash_of_key(std::string_view key) {
  // Each step mixes eight bytes in by a multiplication, and folds the high half of the product
  // back.
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  uint64_t hash = key.size() * kFactor;
  const char* at = key.data();
  size_t left = key.size();
  while (left > 0) {
    uint64_t word = 0;
    const size_t step = left < sizeof word ? left : sizeof word;
    std::memcpy(&word, at, step);
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
    at += step;
    left -= step;
  }
  hash *= 0xD6E8FEB86659FD93;
  return hash ^ hash >> 32;
}

}  // namespace gridmount::query
