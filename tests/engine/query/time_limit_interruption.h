// A time limit that interrupts everything, like maxTimeMS. It counts the thread's processor time,
// so it works the same on a busy machine.
#pragma once

#include <chrono>
#include <ctime>
#include <optional>

#include "engine/query/interruption.h"

namespace gridmount::query {

inline std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

class TimeLimitInterruption final : public Interruption {
 public:
  explicit TimeLimitInterruption(std::chrono::nanoseconds limit) : end_(processor_time() + limit) {}

  Status check() override {
    if (processor_time() <= end_) return {};
    return fail(ErrorCode::kMaxTimeMsExpired, "operation exceeded time limit");
  }
  // Returns by how much processor time the limit is exceeded.
  std::chrono::milliseconds exceeded() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(processor_time() - end_);
  }

 private:
  const std::chrono::nanoseconds end_;
};

}  // namespace gridmount::query
