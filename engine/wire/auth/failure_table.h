// Who has failed how often, and until when further tries are refused for it: after some free
// failures for a while that doubles with each.
//
// Not thread-safe. Memory is bounded: of very many keys those that failed longest ago are
// forgotten.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

namespace gridmount::wire {

class FailureTable {
 public:
  using Clock = std::chrono::steady_clock;

  struct Rules {
    int free_failures = 5;
    std::chrono::seconds first_pause{1};
    std::chrono::seconds pause_max{60};
    std::chrono::minutes forgotten_after{15};  // the last failure
    Clock::duration one_forgiven_each{};       // zero: none is, until all are forgotten
    size_t keys_max = 10'000;
  };

  explicit FailureTable(Rules rules) : rules_(rules) {}

  // How long a try has to wait still; zero if it may be made.
  Clock::duration pause(const std::string& key, Clock::time_point now) const;
  void failed(const std::string& key, Clock::time_point now);
  void forget(const std::string& key);

 private:
  struct Failures {
    std::string key;
    int count = 0;
    Clock::time_point last;
    Clock::time_point open_again;
  };

  const Rules rules_;
  std::list<Failures> by_age_;  // the one that failed longest ago first
  std::unordered_map<std::string, std::list<Failures>::iterator> by_key_;
};

}  // namespace gridmount::wire
