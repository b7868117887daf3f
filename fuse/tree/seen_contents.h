// Which content of each file the kernel has cached, for a store that others change: at each open
// the kernel may keep its cache only if the content is still the one that it has.
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
  // Records that the kernel now has the content with this uploadDate (file.h: it identifies one
  // content of a file). Returns true if that is the content which it had.
  bool record(uint64_t ino, bson::Date upload_date) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (dates_.size() >= kFilesMax) dates_.clear();
    const auto [entry, is_new] = dates_.try_emplace(ino, upload_date);
    const bool is_same = !is_new && entry->second == upload_date;
    entry->second = upload_date;
    return is_same;
  }

 private:
  // Beyond this number the files are forgotten: the kernel then reads their content again.
  static constexpr size_t kFilesMax = 100'000;

  Mutex mutex_;
  std::unordered_map<uint64_t, bson::Date> dates_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
