// Slows down guessing: after some failed log-ins of one user from one address, further ones are
// refused for a while that doubles with each failure.
//
// Thread-safe. Memory is bounded: of very many pairs the oldest are forgotten.
#pragma once

#include <chrono>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/thread_safety.h"

namespace gridmount::wire {

class LoginThrottle {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr int kFreeFailures = 5;
  static constexpr std::chrono::seconds kFirstPause{1};
  static constexpr std::chrono::seconds kPauseMax{60};
  static constexpr std::chrono::minutes kForgottenAfter{15};
  static constexpr size_t kPairsMax = 10'000;

  // How long a log-in has to wait still; zero if it may be tried.
  Clock::duration pause(std::string_view address, std::string_view user, Clock::time_point now)
      GM_EXCLUDES(mutex_);
  void failed(std::string_view address, std::string_view user, Clock::time_point now)
      GM_EXCLUDES(mutex_);
  void succeeded(std::string_view address, std::string_view user) GM_EXCLUDES(mutex_);

 private:
  struct Failures {
    std::string key;
    int count = 0;
    Clock::time_point last;
    Clock::time_point open_again;
  };

  Mutex mutex_;
  std::list<Failures> by_age_ GM_GUARDED_BY(mutex_);  // the one that failed longest ago first
  std::unordered_map<std::string, std::list<Failures>::iterator> by_key_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::wire
