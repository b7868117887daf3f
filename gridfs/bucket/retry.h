// Repeats transactions and reads that failed with a transient error of a deployment. A local store
// has no transient errors (Capabilities::retry_for is 0), so its attempts are never repeated.
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/store.h"
#include "engine/transient_error.h"

namespace gridmount::gridfs {

// Calls `attempt` until it succeeds, until it fails with an error that is not transient, or until
// the time Capabilities::retry_for is over. Returns the result of the last call. `attempt` must be
// repeatable: one transaction, or only reads. An attempt that finds no server has already waited
// for a server before it fails. So with_retry() repeats this attempt only if another attempt of the
// same duration would end within retry_for. The pause between two attempts doubles, up to 200 ms,
// so that two mounts that change one directory do not conflict for ever.
template <typename Attempt>
auto with_retry(const engine::Store& store, const Attempt& attempt) -> decltype(attempt()) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kFirstPause{1};
  constexpr std::chrono::milliseconds kLongestPause{200};
  const std::chrono::milliseconds patience = store.capabilities().retry_for;
  if (patience.count() == 0) return attempt();
  Clock::time_point begun = Clock::now();
  const Clock::time_point end = begun + patience;
  auto result = attempt();
  for (auto pause = kFirstPause; !result && engine::is_transient(result.error());
       pause = std::min(pause * 2, kLongestPause)) {
    const auto now = Clock::now();
    const auto expected = engine::is_unreachable(result.error()) ? now - begun : Clock::duration{0};
    if (now + expected >= end) break;
    // The jitter differs from thread to thread and from mount to mount.
    const auto jitter = std::chrono::microseconds(now.time_since_epoch().count() / 1000 % 1000);
    std::this_thread::sleep_for(pause + jitter);
    begun = Clock::now();
    result = attempt();
  }
  return result;
}

}  // namespace gridmount::gridfs
