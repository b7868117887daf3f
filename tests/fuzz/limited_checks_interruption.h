// Ends an evaluation after a number of checks, as maxTimeMS ends it after some time. So a fuzzer
// does not spend long on one input.
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
