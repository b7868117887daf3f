// $dateToString and $dateFromString. Source: MongoDB manual, "Date Expression Operators".

#include <array>

#include "engine/query/expression/conversion.h"
#include "engine/query/expression/date_format.h"
#include "engine/query/expression/operator.h"
#include "engine/query/expression/time_zone.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

namespace writing {
enum Part : size_t { kFormat, kDate, kTimeZone, kOnNull };
}
namespace reading {
enum Part : size_t { kFormat, kText, kTimeZone, kOnNull, kOnError };
}

// Returns nullopt if there is no format or if it is null. The caller evaluates the format even if
// the date is null, so that an invalid format always fails.
Result<std::optional<std::string_view>> evaluate_format(const Call& call, ErrorCode not_a_string,
                                                        Status (*check)(std::string_view format)) {
  static_assert(size_t{writing::kFormat} == size_t{reading::kFormat});
  if (!call.has(writing::kFormat)) return std::optional<std::string_view>();
  GM_ASSIGN(const MaybeValue format, call.argument(writing::kFormat));
  if (is_nullish(format)) return std::optional<std::string_view>();
  if (!is_type(format, Type::kString)) {
    return fail(not_a_string, call.name() + " requires that 'format' be a string, found: " +
                                  std::string(type_name(format)) + " with value " + show(format));
  }
  GM_TRY(check(format->as_string()));
  return std::optional(format->as_string());
}

Evaluated evaluate_to_string(const Call& call) {
  GM_ASSIGN(const MaybeValue date, call.argument(writing::kDate));
  GM_ASSIGN(std::optional<std::string_view> format,
            evaluate_format(call, ErrorCode{18533}, check_format_for_writing));
  GM_ASSIGN(const std::optional<TimeZone> zone,
            evaluate_time_zone(call.arguments[writing::kTimeZone].get(), call.context));
  if (is_nullish(date)) {
    return call.has(writing::kOnNull) ? call.argument(writing::kOnNull) : make_null();
  }
  if (!zone || (call.has(writing::kFormat) && !format)) return make_null();
  if (!format) format = zone->is_utc() ? "%Y-%m-%dT%H:%M:%S.%LZ" : "%Y-%m-%dT%H:%M:%S.%L";
  GM_ASSIGN(const bson::Date moment, coerce_to_date(date));
  GM_ASSIGN(const std::string text, format_date(*format, moment, *zone));
  return give(call.context, text);
}

Result<bson::Date> read_date(ValueView text, const std::optional<std::string_view>& format,
                             const TimeZone& zone) {
  if (format) return parse_date(text.as_string(), *format, zone);
  return parse_date(text.as_string(), zone);
}

Evaluated evaluate_from_string(const Call& call) {
  GM_ASSIGN(const MaybeValue text, call.argument(reading::kText));
  GM_ASSIGN(const std::optional<std::string_view> format,
            evaluate_format(call, ErrorCode{40684}, check_format_for_reading));
  GM_ASSIGN(const std::optional<TimeZone> zone,
            evaluate_time_zone(call.arguments[reading::kTimeZone].get(), call.context));
  if (is_nullish(text)) {
    return call.has(reading::kOnNull) ? call.argument(reading::kOnNull) : make_null();
  }
  if (!is_type(text, Type::kString)) {
    if (call.has(reading::kOnError)) return call.argument(reading::kOnError);
    return fail(ErrorCode::kConversionFailure,
                "$dateFromString requires that 'dateString' be a string, found: " +
                    std::string(type_name(text)) + " with value " + show(text));
  }
  if (!zone || (call.has(reading::kFormat) && !format)) return make_null();
  Result<bson::Date> date = read_date(*text, format, *zone);
  if (date) return give(call.context, *date);
  if (date.error().code() == ErrorCode::kConversionFailure && call.has(reading::kOnError)) {
    return call.argument(reading::kOnError);
  }
  return fail(std::move(date).error());
}

Result<ExpressionPointer> parse_to_string(const Operator& op, ValueView operand,
                                          ParseContext& context) {
  static constexpr std::array<std::string_view, 4> kNames{"format", "date", "timezone", "onNull"};
  GM_ASSIGN(
      const std::vector<MaybeValue> operands,
      read_named({.names = kNames,
                  .not_an_object = ErrorCode{18629},
                  .not_an_object_message = "$dateToString only supports an object as its argument",
                  .unknown = ErrorCode{18534},
                  .unknown_message = "Unrecognized argument to $dateToString: "},
                 operand));
  GM_TRY(require(operands[writing::kDate].has_value(), ErrorCode{18628},
                 "Missing 'date' parameter to $dateToString"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  return make_call(op, std::move(arguments), context);
}

Result<ExpressionPointer> parse_from_string(const Operator& op, ValueView operand,
                                            ParseContext& context) {
  static constexpr std::array<std::string_view, 5> kNames{"format", "dateString", "timezone",
                                                          "onNull", "onError"};
  const std::string not_an_object =
      "$dateFromString only supports an object as an argument, found: " +
      std::string(type_name(operand));
  GM_ASSIGN(const std::vector<MaybeValue> operands,
            read_named({.names = kNames,
                        .not_an_object = ErrorCode{40540},
                        .not_an_object_message = not_an_object,
                        .unknown = ErrorCode{40541},
                        .unknown_message = "Unrecognized argument to $dateFromString: "},
                       operand));
  GM_TRY(require(operands[reading::kText].has_value(), ErrorCode{40542},
                 "Missing 'dateString' parameter to $dateFromString"));
  GM_ASSIGN(std::vector<ExpressionPointer> arguments, parse_named(operands, context));
  return make_call(op, std::move(arguments), context);
}

constexpr Operator kDateTextOperators[] = {
    {.name = "$dateToString", .parse = parse_to_string, .evaluate = evaluate_to_string},
    {.name = "$dateFromString", .parse = parse_from_string, .evaluate = evaluate_from_string},
};

}  // namespace

std::span<const Operator> date_text_operators() {
  return kDateTextOperators;
}

}  // namespace gridmount::query::expressions
