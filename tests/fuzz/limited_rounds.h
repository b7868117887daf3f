// Ends evaluations that would take longer than a fuzzer waits for one input, like maxTimeMS.
#pragma once

#include <cstdint>

#include "engine/query/interruption.h"

namespace gridmount {

class LimitedRounds final : public query::Interruption {
 public:
  bool reached() const { return looks_ > kLooksMax; }
  Status check() override {
    if (++looks_ <= kLooksMax) return {};
    return fail(ErrorCode::kMaxTimeMsExpired, "operation exceeded time limit");
  }

 private:
  static constexpr uint32_t kLooksMax = 2000;
  uint32_t looks_ = 0;
};

}  // namespace gridmount
