// Records which nodes had no extended attributes when they were last read. The kernel asks for
// extended attributes before many writes and in each listing by ls(1), and caches no answer. Most
// nodes have none. If others change the store without this process, a record counts for a short
// time only.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "engine/base/thread_safety.h"

namespace gridmount::fuse {

class KnownWithoutXattrs {
 public:
  using Clock = std::chrono::steady_clock;
  // A point in time, and the number of changes by others that were known then. note() needs a
  // moment before the node was read.
  struct Moment {
    uint64_t changes = 0;
    Clock::time_point time;
  };

  // Records that the node, which was read after that moment, has no extended attributes, or that it
  // has some.
  void note(uint64_t ino, bool has_xattrs, const Moment& read_after) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (has_xattrs) {
      moments_.erase(ino);
      return;
    }
    if (moments_.size() >= kNodesMax) moments_.clear();
    moments_.insert_or_assign(ino, read_after);
  }
  // Returns true if less than `age` ago the node had no extended attributes, and no change has
  // become known since then. `now` is the present moment.
  bool contains(uint64_t ino, const Moment& now, Clock::duration age) const GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = moments_.find(ino);
    return found != moments_.end() && found->second.changes == now.changes &&
           now.time - found->second.time < age;
  }

 private:
  // When more nodes would be recorded, all are forgotten.
  static constexpr size_t kNodesMax = 100'000;

  mutable Mutex mutex_;
  std::unordered_map<uint64_t, Moment> moments_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
