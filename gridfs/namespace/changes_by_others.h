// Counts the changes that others, not the mount's namespaces, make in the buckets of a database.
// The caches of a namespace compare the counts to notice that their entries may be out of date.
//
// Documents that the store removes by itself are not counted: those of a TTL index, and the oldest
// ones of a capped collection.
//
// Each function that changes a count must be called while the transaction that makes the change is
// open: after it has begun, and before it commits. So a later transaction finds every earlier
// change counted.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace gridmount::gridfs {

class ChangesByOthers {
 public:
  // Counts a change that may have made names.
  void making_name() { names_.fetch_add(1); }
  uint64_t names() const { return names_.load(); }

  // Counts a change that may have inserted, changed or removed documents of directories.
  void changing_directory() { directories_.fetch_add(1); }
  uint64_t directories() const { return directories_.load(); }

 private:
  std::atomic<uint64_t> names_ = 0;
  std::atomic<uint64_t> directories_ = 0;
};

}  // namespace gridmount::gridfs
