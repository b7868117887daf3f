#include "engine/query/expression/time_zone.h"

#include "engine/query/expression/calendar.h"
#include "engine/query/expression/zone_rules.h"

namespace gridmount::query::expressions {
namespace {

constexpr ErrorCode kUnknownZone{40485};
constexpr ErrorCode kNotAString{40517};

// Parses +HH, +HHMM, +HH:MM, and the same with a minus.
std::optional<int64_t> parse_offset(std::string_view text) {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int64_t sign = text[0] == '-' ? -1 : 1;
  std::string digits(text.substr(1));
  if (digits.size() == 5 && digits[2] == ':') digits.erase(2, 1);
  if (digits.size() != 2 && digits.size() != 4) return std::nullopt;
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const auto two_digits = [&](size_t at) {
    return (digits[at] - '0') * 10 + (digits[at + 1] - '0');
  };
  const int64_t minutes = digits.size() == 4 ? two_digits(2) : 0;
  return sign * (int64_t{two_digits(0)} * 3600 + minutes * 60);
}

}  // namespace

Result<TimeZone> TimeZone::find(std::string_view name) {
  TimeZone zone;
  if (name == "UTC" || name == "GMT") return zone;
  if (const std::optional<int64_t> offset = parse_offset(name)) {
    zone.offset_seconds_ = *offset;
    return zone;
  }
  zone.rules_ = ZoneRules::find(name);
  if (zone.rules_ != nullptr) return zone;
  return fail(kUnknownZone, "unrecognized time zone identifier: \"" + std::string(name) + "\"");
}

int64_t TimeZone::offset_seconds(bson::Date date) const {
  if (rules_ == nullptr) return offset_seconds_;
  return rules_->offset_at(floor_divide(date.milliseconds, 1000));
}

int64_t TimeZone::to_local(bson::Date date) const {
  return add_saturated(date.milliseconds, offset_seconds(date) * 1000);
}

bson::Date TimeZone::from_local(int64_t local_milliseconds) const {
  // If the clock changes near this time, the offset one day earlier is the offset before the
  // change.
  const bson::Date day_before{add_saturated(local_milliseconds, -kMillisecondsPerDay)};
  const int64_t before = offset_seconds(day_before) * 1000;
  const bson::Date guess{add_saturated(local_milliseconds, -before)};
  const int64_t at_guess = offset_seconds(guess) * 1000;
  if (at_guess == before) return guess;
  const bson::Date other{add_saturated(local_milliseconds, -at_guess)};
  // The later offset applies if it gives the local time. Otherwise the clock skips the local time,
  // and the earlier offset applies.
  return to_local(other) == local_milliseconds ? other : guess;
}

Result<std::optional<TimeZone>> evaluate_time_zone(const Expression* expression,
                                                   EvaluationContext& context) {
  if (expression == nullptr) return std::optional(TimeZone());
  GM_ASSIGN(const MaybeValue name, expression->evaluate(context));
  if (is_nullish(name)) return std::optional<TimeZone>();
  if (!is_type(name, bson::Type::kString)) {
    return fail(kNotAString,
                "timezone must evaluate to a string, found " + std::string(type_name(name)));
  }
  GM_ASSIGN(const TimeZone zone, TimeZone::find(name->as_string()));
  return std::optional(zone);
}

}  // namespace gridmount::query::expressions
