// Counts the failures of each key, and decides how long a key must wait before its next try. After
// its first failures, a key need not wait (Rules::free_failures). Then each failure doubles the
// pause, up to Rules::pause_max, and at most six times.
//
// Not thread-safe. Memory is bounded: if there are more than Rules::keys_max keys, the table
// forgets the key whose last failure is the oldest.
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
    int free_failures = 5;  // the failure with this number is the first that causes a pause
    std::chrono::seconds first_pause{1};
    std::chrono::seconds pause_max{60};
    std::chrono::minutes forgotten_after{15};  // a key is forgotten this long after its last
                                               // failure
    Clock::duration one_forgiven_each{};       // one failure is forgiven in each period of this
                                               // length; zero: none is
    size_t keys_max = 10'000;
  };

  explicit FailureTable(Rules rules) : rules_(rules) {}

  // Returns how long the key must still wait before its next try, from `now` on. Zero: it need not
  // wait.
  Clock::duration pause(const std::string& key, Clock::time_point now) const;
  // Counts a failure of the key. `now` must not be earlier than in an earlier call of failed().
  void failed(const std::string& key, Clock::time_point now);
  // Forgets all failures of the key. The caller calls it when a try has succeeded.
  void forget(const std::string& key);

 private:
  struct Failures {
    std::string key;
    int count = 0;
    Clock::time_point last;
    Clock::time_point forgiven_until;  // each period before this time has forgiven a failure
    Clock::time_point open_again;
  };

  const Rules rules_;
  std::list<Failures> by_age_;  // the key with the oldest last failure is the first
  std::unordered_map<std::string, std::list<Failures>::iterator> by_key_;
};

}  // namespace gridmount::wire
