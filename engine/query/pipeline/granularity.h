// The series of preferred numbers to which $bucketAuto may round its boundaries. Internal to
// engine/query. Immutable, so safe to share between threads.
//
// Source: MongoDB manual, "$bucketAuto", "Granularity"; Renard numbers and E series.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query {

class Granularity {
 public:
  // Fails with code 40257 if there is no series of that name.
  static Result<Granularity> find(std::string_view name);

  // Return the nearest number of the series above or below `number`. Zero stays zero. `number` must
  // not be NaN or negative. The result is a decimal for a decimal, and a double otherwise.
  bson::Value round_up(bson::ValueView number) const { return round(number, true); }
  bson::Value round_down(bson::ValueView number) const { return round(number, false); }

 private:
  explicit Granularity(std::span<const int16_t> series) : series_(series) {}

  bson::Value round(bson::ValueView number, bool up) const;

  std::span<const int16_t> series_;  // one decade of the series; empty for the powers of two
};

}  // namespace gridmount::query
