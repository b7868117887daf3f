#include "engine/wire/auth/login_throttle.h"

#include <algorithm>

namespace gridmount::wire {
namespace {

// Without the port, which each connection has another of.
std::string key_of(std::string_view address, std::string_view user) {
  std::string key(address.substr(0, address.rfind(':')));
  key += '\0';
  key += user;
  return key;
}

}  // namespace

LoginThrottle::Clock::duration LoginThrottle::pause(std::string_view address, std::string_view user,
                                                    Clock::time_point now) {
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key_of(address, user));
  if (found == by_key_.end()) return Clock::duration::zero();
  return std::max(Clock::duration::zero(), found->second->open_again - now);
}

void LoginThrottle::failed(std::string_view address, std::string_view user, Clock::time_point now) {
  const std::string key = key_of(address, user);
  const MutexLock lock(mutex_);
  while (!by_age_.empty() &&
         (by_age_.front().last + kForgottenAfter < now || by_age_.size() >= kPairsMax)) {
    by_key_.erase(by_age_.front().key);
    by_age_.pop_front();
  }
  const auto [found, is_new] = by_key_.try_emplace(key, by_age_.end());
  if (is_new) {
    by_age_.push_back({key, 0, now, now});
  } else {
    by_age_.splice(by_age_.end(), by_age_, found->second);
  }
  found->second = std::prev(by_age_.end());
  Failures& failures = *found->second;
  failures.last = now;
  ++failures.count;
  if (failures.count < kFreeFailures) return;
  constexpr int kDoublingsMax = 6;
  const int doublings = std::min(failures.count - kFreeFailures, kDoublingsMax);
  failures.open_again =
      now + std::min<Clock::duration>(kFirstPause * (int64_t{1} << doublings), kPauseMax);
}

void LoginThrottle::succeeded(std::string_view address, std::string_view user) {
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key_of(address, user));
  if (found == by_key_.end()) return;
  by_age_.erase(found->second);
  by_key_.erase(found);
}

}  // namespace gridmount::wire
