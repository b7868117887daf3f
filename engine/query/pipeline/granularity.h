// The series of preferred numbers to which $bucketAuto may round its boundaries. Internal to
// engine/query. Immutable, so thread-safe.
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
  // Returns the series with this name. Fails with code 40257 if there is none.
  static Result<Granularity> find(std::string_view name);

  // Return the nearest number of the series that is greater, or less, than `number`. They do not
  // change zero, an infinite double, or a decimal beyond the series. `number` must not be NaN or
  // negative. The result is a decimal if `number` is one, otherwise a double. For POWERSOF2 it is
  // an int32, an int64 or a double, also for a decimal.
  bson::Value round_up(bson::ValueView number) const { return round(number, true); }
  bson::Value round_down(bson::ValueView number) const { return round(number, false); }

 private:
  explicit Granularity(std::span<const int16_t> series) : series_(series) {}

  bson::Value round(bson::ValueView number, bool up) const;

  std::span<const int16_t> series_;  // one decade of the series; empty for the powers of two
};

}  // namespace gridmount::query
