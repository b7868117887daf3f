// The keyspaces whose entries may have no checksums, because the keyspaces were made before the
// store was upgraded to a format version with checksums. Released keyspaces (catalog_keys.h) are
// among them. TreePath must know these keyspaces, because one of their entries may be the neighbour
// of a position in another keyspace.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

class UncheckedKeyspaces {
 public:
  // Returns whether the entry of this tree belongs to a keyspace whose entries may have no
  // checksums. Returns false for a record whose checksum includes its key. Returns true without
  // reading the catalog if an earlier call has found the entry's keyspace there, because no prefix
  // is used twice. Otherwise reads the catalog, and fails as reads of `trees` do.
  Result<bool> have(const Trees& trees, uint32_t tree, const TreeEntry& entry) GM_EXCLUDES(mutex_);

 private:
  struct Keyspace {
    uint32_t tree = 0;
    bool records = false;
  };
  using Keyspaces = std::unordered_map<uint32_t, Keyspace>;  // by prefix
  static Result<Keyspaces> read(const Trees& trees);

  Mutex mutex_;
  Keyspaces keyspaces_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::local
