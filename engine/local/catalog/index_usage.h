// Counts how often each index has been used to find documents since the store was opened.
//
// Thread-safety: thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "engine/local/format/keyspace.h"

namespace gridmount::local {

class IndexUsage {
 public:
  IndexUsage() : since_(bson::Date::now()) {}

  // Counts one use of the index.
  void note(const Keyspace& index) {
    Shard& shard = shard_of(index);
    const MutexLock lock(shard.mutex);
    ++shard.accesses[index.prefix];
  }

  // Sets the count to 0. Servers do this when an index is hidden or unhidden.
  void reset(const Keyspace& index) {
    Shard& shard = shard_of(index);
    const MutexLock lock(shard.mutex);
    shard.accesses.erase(index.prefix);
  }

  int64_t accesses(const Keyspace& index) const {
    const Shard& shard = shard_of(index);
    const MutexLock lock(shard.mutex);
    const auto found = shard.accesses.find(index.prefix);
    return found == shard.accesses.end() ? 0 : found->second;
  }

  // Returns the time when the store was opened, from which uses are counted. reset() does not
  // change this time.
  bson::Date since() const { return since_; }

 private:
  // The map's keys are the prefixes of keyspaces. There are several shards, so that readers seldom
  // wait for each other.
  struct Shard {
    mutable Mutex mutex;
    std::unordered_map<uint32_t, int64_t> accesses GM_GUARDED_BY(mutex);
  };
  static constexpr size_t kShards = 16;
  Shard& shard_of(const Keyspace& index) { return shards_[index.prefix % kShards]; }
  const Shard& shard_of(const Keyspace& index) const { return shards_[index.prefix % kShards]; }

  const bson::Date since_;
  std::array<Shard, kShards> shards_;
};

}  // namespace gridmount::local
