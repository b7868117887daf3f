// Ranges of a store whose entries may be without checksums: they were made by programs of an older
// format version, and the store was upgraded since. What is beside a place of another range may be
// theirs.
//
// Thread-safety: thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

class UncheckedRanges {
 public:
  // Whether the entry of that tree belongs to one. Reads the catalog for a prefix that is not known
  // yet; what is known stays right, as no prefix is used twice.
  Result<bool> have(const Trees& trees, uint32_t tree, const TreeEntry& entry) GM_EXCLUDES(mutex_);

 private:
  struct Range {
    uint32_t tree = 0;
    bool records = false;
  };
  using Ranges = std::unordered_map<uint32_t, Range>;  // by prefix
  static Result<Ranges> read(const Trees& trees);

  Mutex mutex_;
  Ranges ranges_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::local
