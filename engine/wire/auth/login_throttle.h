// Slows down the guessing of passwords.
//
// After some failed log-ins of one user from one host, further ones are refused for a pause that
// doubles with each failure. After more failures, the same holds for all users from one host and
// for one user from all hosts. These two limits do not apply to a user on a host where that user
// has logged in before, so nobody is locked out by the guesses of others.
//
// Names of users that do not exist are throttled in the same way, so that the throttle does not
// reveal which users exist. They are counted in separate tables, so that they cannot displace the
// failures of existing users.
//
// Thread-safe. Memory is bounded.
#pragma once

#include <chrono>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/base/thread_safety.h"
#include "engine/wire/auth/failure_table.h"

namespace gridmount::wire {

class LoginThrottle {
 public:
  using Clock = FailureTable::Clock;

  static constexpr FailureTable::Rules kOfPair{};
  // For keys that many clients share. A machine whose programs use an outdated password should go
  // on working, so these allow more failures and forgive one each minute.
  static constexpr FailureTable::Rules kOfOne{.free_failures = 50,
                                              .one_forgiven_each = std::chrono::minutes(1)};
  static constexpr size_t kTrustedMax = 10'000;

  struct Attempt {
    std::string host;  // host_of() the client's address
    std::string user;
    bool is_known = false;  // true if the user exists
  };

  // Returns how long a log-in must still wait. Zero if it may be tried now.
  Clock::duration pause(const Attempt& attempt, Clock::time_point now) const GM_EXCLUDES(mutex_);
  void failed(const Attempt& attempt, Clock::time_point now) GM_EXCLUDES(mutex_);
  void succeeded(const Attempt& attempt) GM_EXCLUDES(mutex_);

 private:
  struct Names {
    FailureTable pairs{kOfPair};
    FailureTable users{kOfOne};
  };

  mutable Mutex mutex_;
  Names known_ GM_GUARDED_BY(mutex_);
  Names unknown_ GM_GUARDED_BY(mutex_);
  FailureTable hosts_ GM_GUARDED_BY(mutex_){kOfOne};
  // Pairs of host and user that have logged in. Oldest log-in first.
  std::list<std::string> trusted_by_age_ GM_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::list<std::string>::iterator> trusted_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::wire
