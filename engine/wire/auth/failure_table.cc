#include "engine/wire/auth/failure_table.h"

#include <algorithm>

namespace gridmount::wire {

FailureTable::Clock::duration FailureTable::pause(const std::string& key,
                                                  Clock::time_point now) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return Clock::duration::zero();
  return std::max(Clock::duration::zero(), found->second->open_again - now);
}

void FailureTable::failed(const std::string& key, Clock::time_point now) {
  while (!by_age_.empty() && by_age_.front().last + rules_.forgotten_after < now) {
    by_key_.erase(by_age_.front().key);
    by_age_.pop_front();
  }
  const auto [found, is_new] = by_key_.try_emplace(key, by_age_.end());
  if (is_new) {
    by_age_.push_back({key, 0, now, now, now});
  } else {
    by_age_.splice(by_age_.end(), by_age_, found->second);
  }
  found->second = std::prev(by_age_.end());
  Failures& failures = *found->second;
  if (rules_.one_forgiven_each > Clock::duration::zero()) {
    const auto forgiven = (now - failures.forgiven_until) / rules_.one_forgiven_each;
    failures.count = static_cast<int>(std::max<int64_t>(0, failures.count - forgiven));
    // The part of a period that has passed counts when the next failure is counted.
    failures.forgiven_until += forgiven * rules_.one_forgiven_each;
  }
  failures.last = now;
  ++failures.count;
  if (failures.count >= rules_.free_failures) {
    constexpr int kDoublingsMax = 6;
    const int doublings = std::min(failures.count - rules_.free_failures, kDoublingsMax);
    failures.open_again =
        now +
        std::min<Clock::duration>(rules_.first_pause * (int64_t{1} << doublings), rules_.pause_max);
  }
  if (by_age_.size() <= rules_.keys_max) return;
  by_key_.erase(by_age_.front().key);
  by_age_.pop_front();
}

void FailureTable::forget(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  by_age_.erase(found->second);
  by_key_.erase(found);
}

}  // namespace gridmount::wire
