#include "fuse/tree/lost_names.h"

#include <algorithm>

namespace gridmount::fuse {

namespace {

// Until then the kernel has read the answer that says that the name is gone.
constexpr std::chrono::seconds kPatience{1};
// More are not told apart from one another: the oldest are given up.
constexpr size_t kRecentMax = 1024;

}  // namespace

void LostNames::note(uint64_t number) {
  const Clock::time_point now = Clock::now();
  MutexLock lock(mutex_);
  std::erase_if(recent_, [&](const auto& lost) {
    return lost.first == number || now - lost.second > kPatience;
  });
  if (recent_.size() == kRecentMax) recent_.erase(recent_.begin());
  recent_.emplace_back(number, now);
  any_ = true;
}

bool LostNames::concerns(uint64_t number) const {
  if (in_progress_ > 0) return true;
  if (!any_) return false;
  const Clock::time_point now = Clock::now();
  MutexLock lock(mutex_);
  return std::any_of(recent_.begin(), recent_.end(), [&](const auto& lost) {
    return lost.first == number && now - lost.second <= kPatience;
  });
}

}  // namespace gridmount::fuse
