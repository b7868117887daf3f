// Slows down guessing: after some failed log-ins of one user from one host, further ones are
// refused for a while that doubles with each failure. So are those of all users from one host, and
// of one user from all hosts, after more of them; but not where that user has logged in from that
// host before: nobody is kept out by others' guesses.
//
// Names of users that do not exist are braked alike, so that the brake does not tell which those
// are, and are counted apart, so that they do not have those that exist forgotten.
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
  // Shared by many: that of a machine whose programs have an outdated password goes on, too.
  static constexpr FailureTable::Rules kOfOne{.free_failures = 50,
                                              .one_forgiven_each = std::chrono::minutes(1)};
  static constexpr size_t kTrustedMax = 10'000;

  struct Attempt {
    std::string host;  // host_of() its address
    std::string user;
    bool is_known = false;  // there is such a user
  };

  // How long a log-in has to wait still; zero if it may be tried.
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
  // Pairs that have logged in, the one longest ago first.
  std::list<std::string> trusted_by_age_ GM_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::list<std::string>::iterator> trusted_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::wire
