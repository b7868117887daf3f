// Records which nodes had no extended attributes when they were last read. The kernel asks for
// extended attributes before many writes and in each listing by ls(1), and caches no answer. Most
// nodes have no extended attributes. If others can change the store without this process, a record
// counts only for a short time.
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
  // A point in time, and the number of changes that were known then: changes by others, and this
  // mount's changes of extended attributes. For note(), the moment must be before the read of the
  // node.
  struct Moment {
    uint64_t changes = 0;
    Clock::time_point time;
  };

  // Records whether the node has extended attributes. The caller must have read the node after the
  // moment `read_after`.
  void note(uint64_t ino, bool has_xattrs, const Moment& read_after) GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (has_xattrs) {
      moments_.erase(ino);
      return;
    }
    if (moments_.size() >= kNodesMax) moments_.clear();
    moments_.insert_or_assign(ino, read_after);
  }
  // Returns true if the node had no extended attributes less than `age` ago, and no such change
  // has become known since then (Moment::changes). `now` is the present moment.
  bool contains(uint64_t ino, const Moment& now, Clock::duration age) const GM_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = moments_.find(ino);
    return found != moments_.end() && found->second.changes == now.changes &&
           now.time - found->second.time < age;
  }

 private:
  // The limit for the recorded nodes. At this limit, note() first forgets all nodes.
  static constexpr size_t kNodesMax = 100'000;

  mutable Mutex mutex_;
  std::unordered_map<uint64_t, Moment> moments_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
