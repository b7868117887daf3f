// Counts failures by key and decides how long a key must wait before its next try. The first
// failures are free. Then each failure doubles the pause.
//
// Not thread-safe. Memory is bounded: with more than `keys_max` keys, the key whose last failure is
// oldest is forgotten.
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
    std::chrono::minutes forgotten_after{15};  // after the last failure
    Clock::duration one_forgiven_each{};       // zero: never a single one, only all together
    size_t keys_max = 10'000;
  };

  explicit FailureTable(Rules rules) : rules_(rules) {}

  // Returns how long the next try must still wait. Zero if it may be made now.
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
  std::list<Failures> by_age_;  // oldest last failure first
  std::unordered_map<std::string, std::list<Failures>::iterator> by_key_;
};

}  // namespace gridmount::wire
