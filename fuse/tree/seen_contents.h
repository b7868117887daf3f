// Records which content of each file the kernel has cached. Used for a store that others change. At
// each open, the kernel may keep its cache only if the file still has that content.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"

namespace gridmount::fuse {

class SeenContents {
 public:
  // Records that the kernel now has the content with this uploadDate, which identifies one content
  // of a file (OpenFile::next_upload_date()). Returns true if the kernel had this content before.
  bool record(uint64_t ino, bson::Date upload_date) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (dates_.size() >= kFilesMax) dates_.clear();
    const auto [entry, is_new] = dates_.try_emplace(ino, upload_date);
    const bool is_same = !is_new && entry->second == upload_date;
    entry->second = upload_date;
    return is_same;
  }

  // Returns true if the kernel has, or had, some content of the file.
  bool has(uint64_t ino) const GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return dates_.contains(ino);
  }

 private:
  // When more files would be recorded, all are forgotten. The kernel then reads their content
  // again.
  static constexpr size_t kFilesMax = 100'000;

  mutable Mutex mutex_;
  std::unordered_map<uint64_t, bson::Date> dates_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
