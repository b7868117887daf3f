// $dateAdd, $dateSubtract, $dateDiff and $dateTrunc. Source: MongoDB manual, "Date Expression
// Operators".

#include <array>
#include <limits>

#include "engine/query/expression/date_arithmetic.h"
#include "engine/query/expression/operator.h"
#include "engine/query/expression/time_zone.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

constexpr int kSunday = 7;

tl::unexpected<Error> caused_by(std::string context, const Error& error) {
  return fail(error.code(), std::move(context) + " :: caused by :: " + error.message());
}

Result<TimeUnit> read_unit(const Call& call, ValueView value) {
  const std::optional<TimeUnit> unit = find_time_unit(value.as_string());
  if (unit) return *unit;
  return fail(ErrorCode::kFailedToParse, call.name() +
                                             " parameter 'unit' value parsing failed :: caused by "
                                             ":: unknown time unit value: " +
                                             std::string(value.as_string()));
}

// Returns nullopt if the unit is null.
Result<std::optional<TimeUnit>> evaluate_unit(const Call& call, size_t i) {
  GM_ASSIGN(const MaybeValue value, call.argument(i));
  if (is_nullish(value)) return std::optional<TimeUnit>();
  GM_TRY(require(
      is_type(value, Type::kString), ErrorCode{5439013},
      call.name() + " requires 'unit' to be a string, but got " + std::string(type_name(value))));
  GM_ASSIGN(const TimeUnit unit, read_unit(call, *value));
  return std::optional(unit);
}

// Returns Sunday if there is no argument, or if the unit is not the week. Returns nullopt if the
// argument is null.
Result<std::optional<int>> evaluate_start_of_week(const Call& call, size_t i, TimeUnit unit) {
  if (unit != TimeUnit::kWeek || !call.has(i)) return std::optional(kSunday);
  GM_ASSIGN(const MaybeValue value, call.argument(i));
  if (is_nullish(value)) return std::optional<int>();
  GM_TRY(require(is_type(value, Type::kString), ErrorCode{5439015},
                 call.name() + " requires 'startOfWeek' to be a string, but got " +
                     std::string(type_name(value))));
  const std::optional<int> weekday = find_weekday(value->as_string());
  if (weekday) return weekday;
  return fail(ErrorCode{5439016},
              call.name() +
                  " parameter 'startOfWeek' value cannot be recognized as a day of a week: " +
                  std::string(value->as_string()));
}

Result<std::optional<TimeZone>> evaluate_zone(const Call& call, size_t i) {
  Result<std::optional<TimeZone>> zone = evaluate_time_zone(call.arguments[i].get(), call.context);
  if (zone) return zone;
  return caused_by(call.name() + " parameter 'timezone' value parsing failed", zone.error());
}

Result<bson::Date> require_date(const Call& call, const MaybeValue& value, std::string_view name,
                                ErrorCode code) {
  if (is_coercible_to_date(value)) return coerce_to_date(value);
  return fail(code, call.name() + " requires '" + std::string(name) + "' to be a date, but got " +
                        std::string(type_name(value)));
}

// --- $dateAdd and $dateSubtract.

enum AddArgument : size_t { kStartDate, kUnit, kAmount, kTimeZone };

Result<int64_t> read_amount(const Call& call, ValueView amount, bool is_subtraction) {
  const std::optional<int64_t> count = amount.is_number() ? amount.integral() : std::nullopt;
  if (!count) {
    return fail(ErrorCode{5166405}, call.name() + " expects integer amount of time units");
  }
  if (is_subtraction && *count == std::numeric_limits<int64_t>::min()) {
    return fail(ErrorCode{6045000},
                "invalid $dateSubtract 'amount' parameter value: " + std::to_string(*count));
  }
  return *count;
}

template <bool is_subtraction>
Evaluated evaluate_add(const Call& call) {
  GM_ASSIGN(const MaybeValue start, call.argument(kStartDate));
  if (is_nullish(start)) return make_null();
  GM_ASSIGN(const MaybeValue unit_name, call.argument(kUnit));
  if (is_nullish(unit_name)) return make_null();
  GM_ASSIGN(const MaybeValue amount, call.argument(kAmount));
  if (is_nullish(amount)) return make_null();
  GM_ASSIGN(const std::optional<TimeZone> zone,
            evaluate_time_zone(call.arguments[kTimeZone].get(), call.context));
  if (!zone) return make_null();
  GM_TRY(require(is_coercible_to_date(start), ErrorCode{5166403},
                 call.name() + " requires startDate to be convertible to a date"));
  GM_TRY(require(is_type(unit_name, Type::kString), ErrorCode{5166404},
                 call.name() + " expects string defining the time unit"));
  GM_ASSIGN(const TimeUnit unit, read_unit(call, *unit_name));
  GM_ASSIGN(const int64_t count, read_amount(call, *amount, is_subtraction));
  GM_ASSIGN(const bson::Date date, coerce_to_date(start));
  GM_ASSIGN(const bson::Date moved,
            add_to_date(date, unit, is_subtraction ? -count : count, *zone));
  return give(call.context, moved);
}

Result<ExpressionPointer> parse_add(const Operator& op, ValueView operand, ParseContext& context) {
  static constexpr std::array<std::string_view, 4> kNames{"startDate", "unit", "amount",
                                                          "timezone"};
  const std::string name(op.name);
  GM_TRY(require(operand.type() == Type::kDocument, ErrorCode{5166400},
                 name + " expects an object as its argument"));
  const std::string unknown = "Unrecognized argument to " + name + ": ";
  Result<std::vector<MaybeValue>> operands = read_named({.names = kNames,
                                                         .not_an_object = ErrorCode{5166400},
                                                         .not_an_object_message = "",
                                                         .unknown = ErrorCode{5166401},
                                                         .unknown_message = unknown},
                                                        operand);
  if (!operands) {
    return fail(operands.error().code(),
                operands.error().message() +
                    ". Expected arguments are startDate, unit, amount, and optionally timezone.");
  }
  GM_TRY(require((*operands)[kStartDate] && (*operands)[kUnit] && (*operands)[kAmount],
                 ErrorCode{5166402}, name + " requires startDate, unit, and amount to be present"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(*operands, context));
  return make_call(op, std::move(arguments), context);
}

// --- $dateDiff.

namespace difference {
enum Argument : size_t { kStart, kEnd, kUnit, kZone, kStartOfWeek };
}

Evaluated evaluate_difference(const Call& call) {
  GM_ASSIGN(const MaybeValue start_value, call.argument(difference::kStart));
  if (is_nullish(start_value)) return make_null();
  GM_ASSIGN(const MaybeValue end_value, call.argument(difference::kEnd));
  if (is_nullish(end_value)) return make_null();
  GM_ASSIGN(const std::optional<TimeUnit> unit, evaluate_unit(call, difference::kUnit));
  if (!unit) return make_null();
  GM_ASSIGN(const std::optional<int> start_of_week,
            evaluate_start_of_week(call, difference::kStartOfWeek, *unit));
  if (!start_of_week) return make_null();
  GM_ASSIGN(const std::optional<TimeZone> zone, evaluate_zone(call, difference::kZone));
  if (!zone) return make_null();
  GM_ASSIGN(const bson::Date start,
            require_date(call, start_value, "startDate", ErrorCode{5166307}));
  GM_ASSIGN(const bson::Date end, require_date(call, end_value, "endDate", ErrorCode{5166307}));
  GM_ASSIGN(const int64_t count, count_between(start, end, *unit, *zone, *start_of_week));
  return give(call.context, count);
}

Result<ExpressionPointer> parse_difference(const Operator& op, ValueView operand,
                                           ParseContext& context) {
  static constexpr std::array<std::string_view, 5> kNames{"startDate", "endDate", "unit",
                                                          "timezone", "startOfWeek"};
  GM_ASSIGN(
      const std::vector<MaybeValue> operands,
      read_named({.names = kNames,
                  .not_an_object = ErrorCode{5166301},
                  .not_an_object_message = "$dateDiff only supports an object as its argument",
                  .unknown = ErrorCode{5166302},
                  .unknown_message = "Unrecognized argument to $dateDiff: "},
                 operand));
  GM_TRY(require(operands[difference::kStart].has_value(), ErrorCode{5166303},
                 "Missing 'startDate' parameter to $dateDiff"));
  GM_TRY(require(operands[difference::kEnd].has_value(), ErrorCode{5166304},
                 "Missing 'endDate' parameter to $dateDiff"));
  GM_TRY(require(operands[difference::kUnit].has_value(), ErrorCode{5166305},
                 "Missing 'unit' parameter to $dateDiff"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  return make_call(op, std::move(arguments), context);
}

// --- $dateTrunc.

namespace truncation {
enum Argument : size_t { kDate, kUnit, kBinSize, kZone, kStartOfWeek };
}

// Returns nullopt if the size is null.
Result<std::optional<int64_t>> evaluate_bin_size(const Call& call) {
  if (!call.has(truncation::kBinSize)) return std::optional(int64_t{1});
  GM_ASSIGN(const MaybeValue value, call.argument(truncation::kBinSize));
  if (is_nullish(value)) return std::optional<int64_t>();
  const std::optional<int64_t> size = value->is_number() ? value->integral() : std::nullopt;
  if (!size) {
    return fail(ErrorCode{5439017},
                "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '" +
                    show(value) + "' of type " + std::string(type_name(value)));
  }
  if (*size <= 0) {
    return fail(ErrorCode{5439018},
                "$dateTrunc requires 'binSize' to be greater than 0, but got value " +
                    std::to_string(*size));
  }
  return size;
}

Evaluated evaluate_truncation(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(truncation::kDate));
  if (is_nullish(value)) return make_null();
  GM_ASSIGN(const std::optional<int64_t> bin_size, evaluate_bin_size(call));
  if (!bin_size) return make_null();
  GM_ASSIGN(const std::optional<TimeUnit> unit, evaluate_unit(call, truncation::kUnit));
  if (!unit) return make_null();
  GM_ASSIGN(const std::optional<int> start_of_week,
            evaluate_start_of_week(call, truncation::kStartOfWeek, *unit));
  if (!start_of_week) return make_null();
  GM_ASSIGN(const std::optional<TimeZone> zone, evaluate_zone(call, truncation::kZone));
  if (!zone) return make_null();
  GM_ASSIGN(const bson::Date date, require_date(call, value, "date", ErrorCode{5439012}));
  GM_ASSIGN(const bson::Date begin, truncate_date(date, *unit, *bin_size, *zone, *start_of_week));
  return give(call.context, begin);
}

Result<ExpressionPointer> parse_truncation(const Operator& op, ValueView operand,
                                           ParseContext& context) {
  static constexpr std::array<std::string_view, 5> kNames{"date", "unit", "binSize", "timezone",
                                                          "startOfWeek"};
  Result<std::vector<MaybeValue>> read =
      read_named({.names = kNames,
                  .not_an_object = ErrorCode{5439007},
                  .not_an_object_message = "$dateTrunc only supports an object as its argument",
                  .unknown = ErrorCode{5439008},
                  .unknown_message = "Unrecognized argument to $dateTrunc: "},
                 operand);
  if (!read && read.error().code() == ErrorCode{5439008}) {
    return fail(read.error().code(), read.error().message() +
                                         ". Expected arguments are date, unit, and optionally, "
                                         "binSize, timezone, startOfWeek");
  }
  GM_ASSIGN(const std::vector<MaybeValue> operands, std::move(read));
  GM_TRY(require(operands[truncation::kDate].has_value(), ErrorCode{5439009},
                 "Missing 'date' parameter to $dateTrunc"));
  GM_TRY(require(operands[truncation::kUnit].has_value(), ErrorCode{5439010},
                 "Missing 'unit' parameter to $dateTrunc"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  return make_call(op, std::move(arguments), context);
}

constexpr Operator kDateArithmeticOperators[] = {
    {.name = "$dateAdd", .parse = parse_add, .evaluate = evaluate_add<false>},
    {.name = "$dateSubtract", .parse = parse_add, .evaluate = evaluate_add<true>},
    {.name = "$dateDiff", .parse = parse_difference, .evaluate = evaluate_difference},
    {.name = "$dateTrunc", .parse = parse_truncation, .evaluate = evaluate_truncation},
};

}  // namespace

std::span<const Operator> date_arithmetic_operators() {
  return kDateArithmeticOperators;
}

}  // namespace gridmount::query::expressions
