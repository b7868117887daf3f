// Time zones: UTC, offsets from it ("+05:30") and, of the time zone database, names
// ("Europe/Berlin"). Internal to this folder.
#pragma once

#include <memory>
#include <string_view>

#include "engine/bson/value.h"
#include "engine/query/expression/evaluation.h"

namespace gridmount::query::expressions {

class ZoneRules;

// A value; thread-safe.
class TimeZone {
 public:
  TimeZone() = default;  // UTC

  // Location40485 if there is no such zone.
  static Result<TimeZone> find(std::string_view name);

  bool is_utc() const { return rules_ == nullptr && offset_seconds_ == 0; }
  // A zone whose offset changes.
  bool has_rules() const { return rules_ != nullptr; }

  // East of UTC, at that time.
  int64_t offset_seconds(bson::Date date) const;
  int64_t to_local(bson::Date date) const;
  // A local time that there is twice is the earlier, one that is left out is as much later as the
  // clock was put forward.
  bson::Date from_local(int64_t local_milliseconds) const;

 private:
  std::shared_ptr<const ZoneRules> rules_;
  int64_t offset_seconds_ = 0;
};

// The zone that an expression gives: UTC if there is none, nothing if it is null.
Result<std::optional<TimeZone>> evaluate_time_zone(const Expression* expression,
                                                   EvaluationContext& context);

}  // namespace gridmount::query::expressions
