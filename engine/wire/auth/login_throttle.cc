#include "engine/wire/auth/login_throttle.h"

#include <algorithm>

namespace gridmount::wire {
namespace {

std::string pair_of(const LoginThrottle::Attempt& attempt) {
  return attempt.host + '\0' + attempt.user;
}

}  // namespace

LoginThrottle::Clock::duration LoginThrottle::pause(const Attempt& attempt,
                                                    Clock::time_point now) const {
  const std::string pair = pair_of(attempt);
  const MutexLock lock(mutex_);
  const Names& names = attempt.is_known ? known_ : unknown_;
  const Clock::duration its = names.pairs.pause(pair, now);
  if (trusted_.count(pair) != 0) return its;
  return std::max({its, names.users.pause(attempt.user, now), hosts_.pause(attempt.host, now)});
}

void LoginThrottle::failed(const Attempt& attempt, Clock::time_point now) {
  const MutexLock lock(mutex_);
  Names& names = attempt.is_known ? known_ : unknown_;
  names.pairs.failed(pair_of(attempt), now);
  names.users.failed(attempt.user, now);
  hosts_.failed(attempt.host, now);
}

void LoginThrottle::succeeded(const Attempt& attempt) {
  const std::string pair = pair_of(attempt);
  const MutexLock lock(mutex_);
  known_.pairs.forget(pair);
  if (const auto found = trusted_.find(pair); found != trusted_.end()) {
    trusted_by_age_.splice(trusted_by_age_.end(), trusted_by_age_, found->second);
    return;
  }
  trusted_by_age_.push_back(pair);
  trusted_.emplace(pair, std::prev(trusted_by_age_.end()));
  if (trusted_.size() <= kTrustedMax) return;
  trusted_.erase(trusted_by_age_.front());
  trusted_by_age_.pop_front();
}

}  // namespace gridmount::wire
