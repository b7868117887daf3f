// Time zones: UTC and GMT, offsets from UTC ("+05:30", "+0530", "+05"), and names of the time zone
// database ("Europe/Berlin"). Internal to engine/query.
//
// Thread-safety: a TimeZone is immutable, so thread-safe, and TimeZone::find() is thread-safe. One
// thread at a time may use the context of evaluate_time_zone().
#pragma once

#include <memory>
#include <string_view>

#include "engine/bson/value.h"
#include "engine/query/expression/evaluation.h"

namespace gridmount::query::expressions {

class ZoneRules;

// A value type.
class TimeZone {
 public:
  TimeZone() = default;  // UTC

  // Returns the zone. Fails with Location40485 if no zone has this name.
  static Result<TimeZone> find(std::string_view name);

  bool is_utc() const { return rules_ == nullptr && offset_seconds_ == 0; }
  // Returns whether the offset of the zone depends on the date.
  bool has_rules() const { return rules_ != nullptr; }

  // Returns the offset at this time, in seconds. The offset is positive east of UTC.
  int64_t offset_seconds(bson::Date date) const;
  int64_t to_local(bson::Date date) const;
  // Converts a local time to a date. If the local time occurs twice, returns the earlier date. If
  // the clock skips the local time, uses the offset before the change, so that to_local() of the
  // result is later than the local time by the size of the change.
  bson::Date from_local(int64_t local_milliseconds) const;

 private:
  std::shared_ptr<const ZoneRules> rules_;
  int64_t offset_seconds_ = 0;
};

// Evaluates an expression whose value names a zone. Returns UTC if `expression` is null, and
// nullopt if its value is null, undefined or missing. Fails with Location40517 if the value is of
// another type than string, and as TimeZone::find() does.
Result<std::optional<TimeZone>> evaluate_time_zone(const Expression* expression,
                                                   EvaluationContext& context);

}  // namespace gridmount::query::expressions
