// Makes it slow to guess passwords.
//
// After some failed log-ins of one user from one host, further log-ins of this user from this host
// are refused for a pause, which doubles with each failure. After more failures, further log-ins
// from one host are refused for all users, and those of one user from all hosts. These two limits
// do not apply to a user on a host from which that user has logged in before. So the guesses of
// others do not lock a user out.
//
// The same holds for names of users that do not exist, so that the pauses do not reveal which users
// exist. Failures of such names are counted in separate tables, so that they cannot displace the
// failures of existing users. Only the table of hosts is the same for all names.
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
  // The rules for a host or a user alone, which many clients share. A machine should still be able
  // to log in if one of its programs uses an outdated password. So these rules allow more failures,
  // and forgive one each minute.
  static constexpr FailureTable::Rules kOfOne{.free_failures = 50,
                                              .one_forgiven_each = std::chrono::minutes(1)};
  // The maximum number of pairs of user and host that are remembered because the user has logged in
  // from the host. Beyond it, the pair with the oldest log-in is forgotten.
  static constexpr size_t kTrustedMax = 10'000;

  struct Attempt {
    std::string host;  // host_of() the client's address
    std::string user;
    bool is_known = false;  // true if the user exists
  };

  // Returns how long the log-in must still wait. Zero: it may be tried now.
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
  // Pairs of host and user that have logged in. The pair with the oldest log-in is the first.
  std::list<std::string> trusted_by_age_ GM_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::list<std::string>::iterator> trusted_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::wire
