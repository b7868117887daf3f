// Time zones: UTC, offsets from UTC ("+05:30"), and names of the time zone database
// ("Europe/Berlin"). Internal to engine/query.
#pragma once

#include <memory>
#include <string_view>

#include "engine/bson/value.h"
#include "engine/query/expression/evaluation.h"

namespace gridmount::query::expressions {

class ZoneRules;

// A value type, immutable and thread-safe.
class TimeZone {
 public:
  TimeZone() = default;  // UTC

  // Fails with Location40485 if there is no such zone.
  static Result<TimeZone> find(std::string_view name);

  bool is_utc() const { return rules_ == nullptr && offset_seconds_ == 0; }
  // Returns whether the offset of the zone changes.
  bool has_rules() const { return rules_ != nullptr; }

  // Returns the offset at that time, in seconds east of UTC.
  int64_t offset_seconds(bson::Date date) const;
  int64_t to_local(bson::Date date) const;
  // If a local time occurs twice, returns the earlier date. If the clock skips a local time,
  // returns a date that is later by as much as the clock was put forward.
  bson::Date from_local(int64_t local_milliseconds) const;

 private:
  std::shared_ptr<const ZoneRules> rules_;
  int64_t offset_seconds_ = 0;
};

// Evaluates an expression for a zone. Returns UTC if there is no expression, and nullopt if its
// value is null.
Result<std::optional<TimeZone>> evaluate_time_zone(const Expression* expression,
                                                   EvaluationContext& context);

}  // namespace gridmount::query::expressions
