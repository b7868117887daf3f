// $year to $millisecond, $dateToParts and $dateFromParts. Source: MongoDB manual, "Date Expression
// Operators".

#include <array>
#include <limits>

#include "engine/query/expression/calendar.h"
#include "engine/query/expression/operator.h"
#include "engine/query/expression/time_zone.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

// --- Operators that return one part.

// A local time, and its day as the number of days since 1970-01-01.
struct LocalTime {
  explicit LocalTime(int64_t milliseconds)
      : time(calendar_time(milliseconds)), days(floor_divide(milliseconds, kMillisecondsPerDay)) {}

  CalendarTime time;
  int64_t days;
};

Evaluated make_part(EvaluationContext& context, int64_t value) {
  return give(context, static_cast<int32_t>(value));
}

using GetPart = int64_t (*)(const LocalTime& local);

int64_t get_year(const LocalTime& local) {
  return local.time.year;
}
int64_t get_month(const LocalTime& local) {
  return local.time.month;
}
int64_t get_day_of_month(const LocalTime& local) {
  return local.time.day;
}
// Returns 1 for Sunday.
int64_t get_day_of_week(const LocalTime& local) {
  return iso_weekday(local.days) % 7 + 1;
}
int64_t get_day_of_year(const LocalTime& local) {
  return day_of_year(local.time);
}
int64_t get_hour(const LocalTime& local) {
  return local.time.hour;
}
int64_t get_minute(const LocalTime& local) {
  return local.time.minute;
}
int64_t get_second(const LocalTime& local) {
  return local.time.second;
}
int64_t get_millisecond(const LocalTime& local) {
  return local.time.millisecond;
}
int64_t get_week(const LocalTime& local) {
  return week_of_year(local.time);
}
int64_t get_iso_week(const LocalTime& local) {
  return iso_week(local.days).week;
}
int64_t get_iso_weekday(const LocalTime& local) {
  return iso_weekday(local.days);
}

// The arguments are the date and the time zone. Returns nullopt if one of them is null.
Result<std::optional<LocalTime>> evaluate_local_time(const Call& call) {
  GM_ASSIGN(const MaybeValue date, call.argument(0));
  if (is_nullish(date)) return std::optional<LocalTime>();
  GM_ASSIGN(const bson::Date moment, coerce_to_date(date));
  GM_ASSIGN(const std::optional<TimeZone> zone,
            evaluate_time_zone(call.has(1) ? call.arguments[1].get() : nullptr, call.context));
  if (!zone) return std::optional<LocalTime>();
  return std::optional(LocalTime(zone->to_local(moment)));
}

template <GetPart get>
Evaluated evaluate_part(const Call& call) {
  GM_ASSIGN(const std::optional<LocalTime> local, evaluate_local_time(call));
  if (!local) return make_null();
  return make_part(call.context, get(*local));
}

// Returns an int64, as servers do only for this part.
Evaluated evaluate_iso_week_year(const Call& call) {
  GM_ASSIGN(const std::optional<LocalTime> local, evaluate_local_time(call));
  if (!local) return make_null();
  return give(call.context, iso_week(local->days).year);
}

// Accepts a date, [date] or {date, timezone}, but not [{date}].
Result<ExpressionPointer> parse_part(const Operator& op, ValueView operand, ParseContext& context) {
  const std::string name(op.name);
  std::vector<ExpressionPointer> arguments;
  if (operand.type() == Type::kArray) {
    GM_ASSIGN(arguments, parse_list(operand, context));
    GM_TRY(require(arguments.size() == 1, ErrorCode{40536},
                   name + " accepts exactly one argument if given an array, but was given " +
                       std::to_string(arguments.size())));
    return make_call(op, std::move(arguments), context);
  }
  const bool is_named =
      operand.type() == Type::kDocument &&
      (operand.as_document().empty() || !(*operand.as_document().begin()).key.starts_with('$'));
  if (!is_named) {
    GM_ASSIGN(ExpressionPointer date, parse_operand(operand, context));
    arguments.push_back(std::move(date));
    return make_call(op, std::move(arguments), context);
  }
  arguments.resize(2);
  for (const bson::Element element : operand.as_document()) {
    GM_TRY(require(element.key == "date" || element.key == "timezone", ErrorCode{40535},
                   "unrecognized option to " + name + ": \"" + std::string(element.key) + "\""));
    GM_ASSIGN(arguments[element.key == "date" ? 0 : 1], parse_operand(element.value, context));
  }
  GM_TRY(
      require(arguments[0] != nullptr, ErrorCode{40539},
              "missing 'date' argument to " + name + ", provided: " + name + ": " + show(operand)));
  return make_call(op, std::move(arguments), context);
}

// --- $dateToParts.

enum ToPartsArgument : size_t { kInstant, kZone, kIso };

Evaluated evaluate_to_parts(const Call& call) {
  GM_ASSIGN(const MaybeValue date, call.argument(kInstant));
  GM_ASSIGN(const std::optional<TimeZone> zone,
            evaluate_time_zone(call.arguments[kZone].get(), call.context));
  if (!zone) return make_null();
  bool is_iso = false;
  if (call.has(kIso)) {
    GM_ASSIGN(const MaybeValue flag, call.argument(kIso));
    if (is_nullish(flag)) return make_null();
    GM_TRY(require(is_type(flag, Type::kBool), ErrorCode{40521},
                   "iso8601 must evaluate to a bool, found " + std::string(type_name(flag))));
    is_iso = flag->as_bool();
  }
  if (is_nullish(date)) return make_null();
  GM_ASSIGN(const bson::Date moment, coerce_to_date(date));
  const LocalTime local(zone->to_local(moment));
  ValueOutput output(call.context, Type::kDocument);
  const auto put = [&](std::string_view name, int64_t part) {
    return output.append(name, bson::Value(static_cast<int32_t>(part)));
  };
  if (is_iso) {
    const IsoWeek week = iso_week(local.days);
    GM_TRY(put("isoWeekYear", week.year));
    GM_TRY(put("isoWeek", week.week));
    GM_TRY(put("isoDayOfWeek", iso_weekday(local.days)));
  } else {
    GM_TRY(put("year", local.time.year));
    GM_TRY(put("month", local.time.month));
    GM_TRY(put("day", local.time.day));
  }
  GM_TRY(put("hour", local.time.hour));
  GM_TRY(put("minute", local.time.minute));
  GM_TRY(put("second", local.time.second));
  GM_TRY(put("millisecond", local.time.millisecond));
  return output.finish();
}

Result<ExpressionPointer> parse_to_parts(const Operator& op, ValueView operand,
                                         ParseContext& context) {
  static constexpr std::array<std::string_view, 3> kNames{"date", "timezone", "iso8601"};
  GM_ASSIGN(
      const std::vector<MaybeValue> operands,
      read_named({.names = kNames,
                  .not_an_object = ErrorCode{40524},
                  .not_an_object_message = "$dateToParts only supports an object as its argument",
                  .unknown = ErrorCode{40520},
                  .unknown_message = "Unrecognized argument to $dateToParts: "},
                 operand));
  GM_TRY(require(operands[kInstant].has_value(), ErrorCode{40522},
                 "Missing 'date' parameter to $dateToParts"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  return make_call(op, std::move(arguments), context);
}

// --- $dateFromParts.

enum FromPartsArgument : size_t {
  kYear,
  kMonth,
  kDay,
  kHour,
  kMinute,
  kSecond,
  kMillisecond,
  kIsoWeekYear,
  kIsoWeek,
  kIsoDayOfWeek,
  kFromTimeZone
};
constexpr std::array<std::string_view, 11> kFromPartsNames{
    "year",        "month",       "day",     "hour",         "minute",  "second",
    "millisecond", "isoWeekYear", "isoWeek", "isoDayOfWeek", "timezone"};

// Returns `otherwise` if the argument is absent, and nullopt if the argument is null.
Result<std::optional<int64_t>> evaluate_number(const Call& call, size_t i, int64_t otherwise) {
  if (!call.has(i)) return std::optional(otherwise);
  GM_ASSIGN(const MaybeValue value, call.argument(i));
  if (is_nullish(value)) return std::optional<int64_t>();
  const std::optional<int64_t> whole = value->is_number() ? value->integral() : std::nullopt;
  if (!whole) {
    return fail(ErrorCode{40515}, "'" + std::string(kFromPartsNames[i]) +
                                      "' must evaluate to an integer, found " +
                                      std::string(type_name(value)) + " with value " + show(value));
  }
  return whole;
}

Result<std::optional<int64_t>> evaluate_short(const Call& call, size_t i, int64_t otherwise) {
  using Limits = std::numeric_limits<int16_t>;
  GM_ASSIGN(const std::optional<int64_t> value, evaluate_number(call, i, otherwise));
  if (value && (*value < Limits::min() || *value > Limits::max())) {
    return fail(ErrorCode{31034}, "'" + std::string(kFromPartsNames[i]) +
                                      "' must evaluate to a value in the range [" +
                                      std::to_string(Limits::min()) + ", " +
                                      std::to_string(Limits::max()) + "]; value " +
                                      std::to_string(*value) + " is not in range");
  }
  return value;
}

Status check_year(int64_t year, FromPartsArgument i) {
  if (year >= 1 && year <= 9999) return {};
  return fail(ErrorCode{i == kYear ? 40523 : 31095},
              "'" + std::string(kFromPartsNames[i]) +
                  "' must evaluate to an integer in the range 1 to 9999, found " +
                  std::to_string(year));
}

// Returns the days since 1970-01-01, or nullopt if a part is null.
Result<std::optional<int64_t>> evaluate_days(const Call& call) {
  const bool is_iso = !call.has(kYear);
  const FromPartsArgument year_argument = is_iso ? kIsoWeekYear : kYear;
  GM_ASSIGN(const std::optional<int64_t> year, evaluate_number(call, year_argument, 1970));
  if (!year) return std::optional<int64_t>();
  GM_ASSIGN(const std::optional<int64_t> month,
            evaluate_short(call, is_iso ? kIsoWeek : kMonth, 1));
  if (!month) return std::optional<int64_t>();
  GM_ASSIGN(const std::optional<int64_t> day,
            evaluate_short(call, is_iso ? kIsoDayOfWeek : kDay, 1));
  if (!day) return std::optional<int64_t>();
  GM_TRY(check_year(*year, year_argument));
  return std::optional(is_iso ? days_from_iso_week(*year, *month, *day)
                              : days_from_date(*year, *month, *day));
}

Evaluated evaluate_from_parts(const Call& call) {
  GM_ASSIGN(const std::optional<int64_t> hour, evaluate_short(call, kHour, 0));
  if (!hour) return make_null();
  GM_ASSIGN(const std::optional<int64_t> minute, evaluate_short(call, kMinute, 0));
  if (!minute) return make_null();
  GM_ASSIGN(const std::optional<int64_t> second, evaluate_number(call, kSecond, 0));
  if (!second) return make_null();
  GM_ASSIGN(const std::optional<int64_t> millisecond, evaluate_number(call, kMillisecond, 0));
  if (!millisecond) return make_null();
  GM_ASSIGN(const std::optional<TimeZone> zone,
            evaluate_time_zone(call.arguments[kFromTimeZone].get(), call.context));
  if (!zone) return make_null();
  GM_ASSIGN(const std::optional<int64_t> days, evaluate_days(call));
  if (!days) return make_null();
  int64_t local = (*days * 24 + *hour) * 3'600'000 + *minute * 60'000;
  int64_t seconds = 0;
  int64_t microseconds = 0;
  // Servers convert the milliseconds to microseconds, and fail if the microseconds overflow.
  if (__builtin_mul_overflow(*millisecond, int64_t{1000}, &microseconds) ||
      __builtin_mul_overflow(*second, int64_t{1000}, &seconds) ||
      __builtin_add_overflow(local, seconds, &local) ||
      __builtin_add_overflow(local, *millisecond, &local)) {
    return fail(ErrorCode{159},
                "Overflow casting from a lower-precision duration to a higher-precision duration");
  }
  return give(call.context, zone->from_local(local));
}

Result<ExpressionPointer> parse_from_parts(const Operator& op, ValueView operand,
                                           ParseContext& context) {
  GM_ASSIGN(
      const std::vector<MaybeValue> operands,
      read_named({.names = kFromPartsNames,
                  .not_an_object = ErrorCode{40519},
                  .not_an_object_message = "$dateFromParts only supports an object as its argument",
                  .unknown = ErrorCode{40518},
                  .unknown_message = "Unrecognized argument to $dateFromParts: "},
                 operand));
  const auto has = [&](FromPartsArgument i) { return operands[i].has_value(); };
  GM_TRY(require(has(kYear) || has(kIsoWeekYear), ErrorCode{40516},
                 "$dateFromParts requires either 'year' or 'isoWeekYear' to be present"));
  GM_TRY(require(!has(kYear) || !(has(kIsoWeekYear) || has(kIsoWeek) || has(kIsoDayOfWeek)),
                 ErrorCode{40489},
                 "$dateFromParts does not allow mixing natural dates with ISO dates"));
  GM_TRY(require(!has(kIsoWeekYear) || !(has(kMonth) || has(kDay)), ErrorCode{40525},
                 "$dateFromParts does not allow mixing ISO dates with natural dates"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  return make_call(op, std::move(arguments), context);
}

template <GetPart get>
constexpr Operator part(std::string_view name) {
  return {.name = name, .parse = parse_part, .evaluate = evaluate_part<get>};
}

constexpr Operator kDatePartOperators[] = {
    part<get_year>("$year"),
    part<get_month>("$month"),
    part<get_day_of_month>("$dayOfMonth"),
    part<get_day_of_week>("$dayOfWeek"),
    part<get_day_of_year>("$dayOfYear"),
    part<get_hour>("$hour"),
    part<get_minute>("$minute"),
    part<get_second>("$second"),
    part<get_millisecond>("$millisecond"),
    part<get_week>("$week"),
    part<get_iso_week>("$isoWeek"),
    part<get_iso_weekday>("$isoDayOfWeek"),
    {.name = "$isoWeekYear", .parse = parse_part, .evaluate = evaluate_iso_week_year},
    {.name = "$dateToParts", .parse = parse_to_parts, .evaluate = evaluate_to_parts},
    {.name = "$dateFromParts", .parse = parse_from_parts, .evaluate = evaluate_from_parts},
};

}  // namespace

std::span<const Operator> date_part_operators() {
  return kDatePartOperators;
}

}  // namespace gridmount::query::expressions
