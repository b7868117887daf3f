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

// The first byte of a key is the kind of the entry. Each comment says what follows this byte in the
// key, and after the semicolon what the value has. All numbers are big-endian. A released keyspace
// belongs to a dropped collection or index, or to an index that is not complete yet. Its keys will
// be removed, unless the index is completed. An entry of the kind kExpiringKey says that the
// collection has an index with expireAfterSeconds.
inline constexpr char kCollectionKey = 'c';  // database, NUL, collection; value: CollectionMetadata
inline constexpr char kCountsKey = 's';      // prefix of the records' keyspace; value: the counts
inline constexpr char kReleasedKey = 'd';    // prefix of a released keyspace; value: tree's number
inline constexpr char kExpiringKey = 't';    // database, NUL, collection; value: empty
inline constexpr char kAllocationKey = 'n';  // nothing; value: next prefix, keyspaces per tree

// The sizes of keys and values, in bytes. The sizes of values are without the checksum.
inline constexpr size_t kCountsBytes = 24;
inline constexpr size_t kPrefixKeyBytes = 5;
inline constexpr size_t kReleasedBytes = 4;
constexpr size_t allocation_bytes(size_t trees) {
  return 4 * (1 + trees);
}

// Returns the key of an entry of the kind kCollectionKey or kExpiringKey.
inline std::string collection_key(const engine::Namespace& ns, char kind = kCollectionKey) {
  std::string key(1, kind);
  key += ns.database;
  key.push_back('\0');
  key += ns.collection;
  return key;
}

// Returns the key of an entry of the kind kCountsKey or kReleasedKey.
inline std::string prefix_key(char kind, uint32_t prefix) {
  std::string key(1, kind);
  append_big_endian_32(key, prefix);
  return key;
}

// Returns whether the value has `bytes` bytes, followed by the correct checksum or by nothing.
// Values that were written before the store had format version 3 have no checksum.
inline bool is_sound_value(std::string_view key, std::string_view value, size_t bytes) {
  return value.size() == bytes || (value.size() == bytes + kEntryChecksumBytes &&
                                   has_entry_checksum(kCatalogTree, key, value));
}

// Returns whether an entry of the catalog's tree is valid. Without a checksum, only the form of the
// value can be checked. `trees` is the number of trees that have keyspaces.
bool is_sound_catalog_entry(size_t trees, const TreeEntry& entry);

}  // namespace gridmount::local
