// Records for each file which content the kernel may have in its page cache. The mount uses this
// class for a store that others can change too. When a program opens a file, the kernel may keep
// its cache of the file only if the file still has the recorded content.
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
  // Must be called when the kernel gets a content of the file: at each open and each commit.
  // Records the uploadDate, which identifies one content of a file (OpenFile::next_upload_date()).
  // Returns true if the same content was recorded before, so that the kernel may keep its cache.
  bool record(uint64_t ino, bson::Date upload_date) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (dates_.size() >= kFilesMax) dates_.clear();
    const auto [entry, is_new] = dates_.try_emplace(ino, upload_date);
    const bool is_same = !is_new && entry->second == upload_date;
    entry->second = upload_date;
    return is_same;
  }

  // Returns true if any content of the file is recorded. The kernel may have dropped this content
  // since.
  bool has(uint64_t ino) const GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return dates_.contains(ino);
  }

 private:
  // The limit for the recorded files. At this limit, record() first forgets all files. At the next
  // open of each of these files, the kernel then drops its cache and reads the content again.
  static constexpr size_t kFilesMax = 100'000;

  mutable Mutex mutex_;
  std::unordered_map<uint64_t, bson::Date> dates_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
