// Keyspaces, which are ranges of keys in the trees, and the encoding of numbers in keys. Numbers
// are big-endian, because keys are compared as bytes: a key with a greater number is then greater.
//
// Thread-safety: functions without state, and plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gridmount::local {

// All keys of one tree whose first four bytes are the same prefix (big-endian). A keyspace has the
// records of one collection, with their patches, or the entries of one index. A store never uses a
// prefix for a second keyspace.
struct Keyspace {
  uint32_t tree = 0;  // position in TreeHandles::keyspaces (storage/trees.h)
  uint32_t prefix = 0;

  friend bool operator==(const Keyspace&, const Keyspace&) = default;
};

// Returns the four bytes with which every key of the keyspace begins.
std::string keyspace_prefix(const Keyspace& keyspace);
// Returns a key that is greater than all keys of the keyspace.
std::string keyspace_end(const Keyspace& keyspace);

void append_big_endian_32(std::string& out, uint32_t value);
void append_big_endian_64(std::string& out, uint64_t value);
uint32_t big_endian_32(std::string_view bytes);  // reads the first four bytes
uint64_t big_endian_64(std::string_view bytes);  // reads the first eight bytes

struct TreeEntry {
  std::string_view key;
  std::string_view value;
};

}  // namespace gridmount::local
