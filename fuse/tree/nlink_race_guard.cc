#include "fuse/tree/nlink_race_guard.h"

#include <algorithm>

namespace gridmount::fuse {

namespace {

// The time within which the kernel has processed the reply that reports the removal of the name.
constexpr std::chrono::seconds kPatience{1};
// The maximum number of files remembered. Beyond it, the oldest are dropped.
constexpr size_t kRecentMax = 1024;

}  // namespace

void NlinkRaceGuard::note(uint64_t ino) {
  const Clock::time_point now = Clock::now();
  MutexLock lock(mutex_);
  std::erase_if(recent_, [&](const auto& removed) {
    return removed.first == ino || now - removed.second > kPatience;
  });
  if (recent_.size() == kRecentMax) recent_.erase(recent_.begin());
  recent_.emplace_back(ino, now);
  any_ = true;
}

bool NlinkRaceGuard::concerns(uint64_t ino) const {
  if (in_progress_ > 0) return true;
  if (!any_) return false;
  const Clock::time_point now = Clock::now();
  MutexLock lock(mutex_);
  return std::any_of(recent_.begin(), recent_.end(), [&](const auto& removed) {
    return removed.first == ino && now - removed.second <= kPatience;
  });
}

}  // namespace gridmount::fuse
