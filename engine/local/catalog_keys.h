// The keys of the catalog's tree. FORMAT.md, chapter "Catalog". Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/local/trees.h"
#include "engine/store.h"

namespace gridmount::local {

// Their first bytes.
inline constexpr char kCollectionKey = 'c';  // + database, NUL, collection: the entry
inline constexpr char kCountsKey = 's';      // + prefix of the records: the counts
inline constexpr char kReleasedKey = 'd';    // + prefix: the tree of a range to be swept
inline constexpr char kExpiringKey = 't';    // + database, NUL, collection: nothing
inline constexpr char kAllocationKey = 'n';  // the next prefix and the ranges per tree

inline constexpr size_t kCountsBytes = 24;
inline constexpr size_t kPrefixKeyBytes = 5;

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

}  // namespace gridmount::local
