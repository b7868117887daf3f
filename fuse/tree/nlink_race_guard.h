// Knows which files are losing one of several names.
//
// The kernel decrements a file's link count itself when a name is removed. If a reply whose
// attributes already have the smaller count arrives just before the kernel decrements, the count
// becomes too small by one. The kernel would keep this count as long as it keeps attributes. So
// while a name is being removed in a bucket with hard links, replies tell the kernel not to keep
// the attributes of any file. For a second after the removal, replies tell the kernel not to keep
// the attributes of the file that has lost the name.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/thread_safety.h"

namespace gridmount::fuse {

class NlinkRaceGuard {
 public:
  // Create a Loss before a name is removed, and destroy it after the removal. While the Loss
  // exists, the guard is in effect for all files. The guard must outlive the Loss.
  class Loss {
   public:
    explicit Loss(NlinkRaceGuard& names) : names_(names) { ++names_.in_progress_; }
    ~Loss() { --names_.in_progress_; }
    Loss(const Loss&) = delete;
    Loss& operator=(const Loss&) = delete;

   private:
    NlinkRaceGuard& names_;
  };

  // Records that the file has lost a name and has others. For a second from now on, the guard is in
  // effect for this file. Must be called while the Loss exists. The guard remembers the newest
  // 1,024 such files.
  void note(uint64_t ino) GM_EXCLUDES(mutex_);
  // Returns true if the file may be losing a name, or has lost one within the last second: the
  // kernel must not keep its attributes. While a Loss exists, returns true for every file.
  bool concerns(uint64_t ino) const GM_EXCLUDES(mutex_);

 private:
  using Clock = std::chrono::steady_clock;

  std::atomic<int> in_progress_ = 0;
  std::atomic<bool> any_ = false;  // note() was called
  mutable Mutex mutex_;
  std::vector<std::pair<uint64_t, Clock::time_point>> recent_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
