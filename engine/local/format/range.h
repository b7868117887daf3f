// Where things stand in the trees: ranges of keys with one prefix, and the numbers in keys, which
// are big-endian so that they ascend as the keys do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gridmount::local {

// Where the records of a collection or the entries of an index are: the keys of one tree that begin
// with the prefix (big-endian). Prefixes are never used twice.
struct Range {
  uint32_t tree = 0;  // position in TreeHandles::ranges (storage/trees.h)
  uint32_t prefix = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

// The four bytes the keys of a range begin with.
std::string range_prefix(const Range& range);
// A bound above all of them.
std::string range_end(const Range& range);

void append_big_endian_32(std::string& out, uint32_t value);
void append_big_endian_64(std::string& out, uint64_t value);
uint32_t big_endian_32(std::string_view bytes);  // of the first four bytes
uint64_t big_endian_64(std::string_view bytes);  // of the first eight

struct TreeEntry {
  std::string_view key;
  std::string_view value;
};

}  // namespace gridmount::local
