// The number of subdirectories of each directory, if it is known. The numbers are known for
// directories that were made since the bucket was opened. To count the subdirectories of an older
// directory, the mount would have to read everything below it, because filenames imply directories.
//
// A count is right or absent. The callers must drop all counts when an implied directory may have
// come into being. They must record a change as the last step of its transaction, so that changes
// are recorded in the order of the commits. If the commit fails, the caller must drop all counts.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::gridfs {

class SubdirectoryCounts {
 public:
  // If `store_is_exclusive` is false, others write to the store too, and no count is ever known.
  explicit SubdirectoryCounts(bool store_is_exclusive) : keeps_any_(store_is_exclusive) {}

  bool keeps_any() const { return keeps_any_; }

  // made() records that a directory was made, without subdirectories. removed() forgets the count
  // of a directory. `directory` is the _id of the directory's document.
  void made(const bson::Value& directory) GM_EXCLUDES(mutex_);
  void removed(const bson::Value& directory) GM_EXCLUDES(mutex_);
  // Adds `by` to the count of the directory, if the count is known.
  void changed(const bson::Value& directory, int64_t by) GM_EXCLUDES(mutex_);
  void drop_all() GM_EXCLUDES(mutex_);

  // If the node is a directory and its number of subdirectories is known, sets nlink to that number
  // plus two: one for the directory's name and one for its ".". Otherwise leaves nlink as it is: 1,
  // which means that the number is not known.
  void apply(Node& node) const GM_EXCLUDES(mutex_);

 private:
  // The maximum number of counts. Directories beyond it stay unknown.
  static constexpr size_t kDirectoriesMax = 100'000;

  const bool keeps_any_;
  mutable Mutex mutex_;
  std::unordered_map<bson::Value, int64_t, bson::ValueHash> counts_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::gridfs
