// The keys of the catalog's tree and the sizes of its values. FORMAT.md, chapter "Catalog".
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/local/format/entry_checksum.h"
#include "engine/local/format/keyspace.h"
#include "engine/store.h"

namespace gridmount::local {

// The first byte of a key says what the entry is.
inline constexpr char kCollectionKey = 'c';  // + database, NUL, collection: the entry
inline constexpr char kCountsKey = 's';      // + prefix of the records: the counts
inline constexpr char kReleasedKey = 'd';    // + prefix: the tree of a keyspace to be removed
inline constexpr char kExpiringKey = 't';    // + database, NUL, collection: nothing
inline constexpr char kAllocationKey = 'n';  // the next prefix and the keyspaces per tree

inline constexpr size_t kCountsBytes = 24;
inline constexpr size_t kPrefixKeyBytes = 5;
inline constexpr size_t kReleasedBytes = 4;
constexpr size_t allocation_bytes(size_t trees) {
  return 4 * (1 + trees);
}

inline std::string collection_key(const engine::Namespace& ns, char kind = kCollectionKey) {
  std::string key(1, kind);
  key += ns.database;
  key.push_back('\0');
  key += ns.collection;
  return key;
}

inline std::string prefix_key(char kind, uint32_t prefix) {
  std::string key(1, kind);
  append_big_endian_32(key, prefix);
  return key;
}

// Returns whether the value has `bytes` bytes, followed by the right checksum or by none. Values of
// older programs have no checksum.
inline bool is_sound_value(std::string_view key, std::string_view value, size_t bytes) {
  return value.size() == bytes || (value.size() == bytes + kEntryChecksumBytes &&
                                   has_entry_checksum(kCatalogTree, key, value));
}

// Returns whether an entry of the catalog's tree is valid. Where the value has no checksum, only
// its form is checked.
bool is_sound_catalog_entry(size_t trees, const TreeEntry& entry);

}  // namespace gridmount::local
