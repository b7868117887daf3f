// How many subfolders folders have, as far as that is known: of those made since the bucket was
// opened. To count others would be to look at all that is in them, as files' names imply folders.
//
// A count is right or not there: whatever may bring about an implied folder has the counts
// forgotten. Changes are told inside the transaction that makes them, after which nothing but its
// commit may fail; if that does, all is forgotten. So they come in the order of the commits.
//
// Thread-safety: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::gridfs {

class SubfolderCounts {
 public:
  // Folders are known by their documents' _ids.
  void made(const bson::Value& folder) GM_EXCLUDES(mutex_);
  void removed(const bson::Value& folder) GM_EXCLUDES(mutex_);
  // The folder, if it is known, has so many more.
  void changed(const bson::Value& folder, int64_t by) GM_EXCLUDES(mutex_);
  void forget(const bson::Value& folder) GM_EXCLUDES(mutex_) { removed(folder); }
  void forget_all() GM_EXCLUDES(mutex_);

  // Has a folder show as many links as it has subfolders, and two: POSIX's "." and its name. One
  // says that it is not known.
  void apply(Node& node) const GM_EXCLUDES(mutex_);

 private:
  // Others stay unknown.
  static constexpr size_t kFoldersMax = 100'000;

  mutable Mutex mutex_;
  std::unordered_map<bson::Value, int64_t, bson::ValueHash> counts_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::gridfs
