// Files that lose one of several names at this moment.
//
// The kernel counts a file's links down itself when it is told that a name has gone. Where it has
// been told of the file's attributes just before, by an answer that has the loss in it, it counts
// twice, and would keep that for as long as it keeps attributes. So while names go, and for a
// second after, it is told to keep them for no time.
//
// Thread-safety: thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/thread_safety.h"

namespace gridmount::fuse {

class LostNames {
 public:
  // Of any file, until the end of the scope; in the middle of it note() says of which.
  class Loss {
   public:
    explicit Loss(LostNames& names) : names_(names) { ++names_.in_progress_; }
    ~Loss() { --names_.in_progress_; }
    Loss(const Loss&) = delete;
    Loss& operator=(const Loss&) = delete;

   private:
    LostNames& names_;
  };

  void note(uint64_t number) GM_EXCLUDES(mutex_);
  // Whether the file may just have lost a name.
  bool concerns(uint64_t number) const GM_EXCLUDES(mutex_);

 private:
  using Clock = std::chrono::steady_clock;

  std::atomic<int> in_progress_ = 0;
  std::atomic<bool> any_ = false;  // noted
  mutable Mutex mutex_;
  std::vector<std::pair<uint64_t, Clock::time_point>> recent_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
