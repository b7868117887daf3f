// Ends evaluations that would take longer than a fuzzer waits for one input, like maxTimeMS.
#pragma once

#include <cstdint>

#include "engine/query/interruption.h"

namespace gridmount {

class LimitedChecksInterruption final : public query::Interruption {
 public:
  bool reached() const { return checks_ > kChecksMax; }
  Status check() override {
    if (++checks_ <= kChecksMax) return {};
    return fail(ErrorCode::kMaxTimeMsExpired, "operation exceeded time limit");
  }

 private:
  static constexpr uint32_t kChecksMax = 2000;
  uint32_t checks_ = 0;
};

}  // namespace gridmount
