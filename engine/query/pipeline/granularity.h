// The series of preferred numbers that $bucketAuto may round its boundaries to. Internal to this
// folder.
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
  // Code 40257 if there is no series of that name.
  static Result<Granularity> find(std::string_view name);

  // The next number of the series above `number`, or below it; zero stays zero. `number` is no NaN
  // and not negative. A decimal gives a decimal, other types a double.
  bson::Value round_up(bson::ValueView number) const { return round(number, true); }
  bson::Value round_down(bson::ValueView number) const { return round(number, false); }

 private:
  explicit Granularity(std::span<const int16_t> series) : series_(series) {}

  bson::Value round(bson::ValueView number, bool up) const;

  std::span<const int16_t> series_;  // of one decade; empty for the powers of two
};

}  // namespace gridmount::query
