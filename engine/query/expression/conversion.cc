#include "engine/query/expression/conversion.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "engine/bson/number.h"
#include "engine/bson/text.h"
#include "engine/query/decimal_arithmetic.h"
#include "engine/query/expression/date_format.h"
#include "engine/query/expression/number_from_text.h"
#include "engine/query/expression/time_zone.h"

namespace gridmount::query::expressions {
namespace {

using bson::Type;
using bson::ValueView;

tl::unexpected<Error> refuse_overflow(ValueView value) {
  return fail(
      ErrorCode::kConversionFailure,
      "Conversion would overflow target type in $convert with no onError value: " + show(value));
}

tl::unexpected<Error> refuse_types(ValueView value, Type target) {
  return refuse_conversion(bson::type_alias(value.type()), bson::type_alias(target));
}

// Cuts off the fraction of a number. Fails if the result is out of the range of Whole.
template <typename Whole>
Result<Whole> cut(ValueView number) {
  const bool is_decimal = number.type() == Type::kDecimal128;
  const bool is_double = number.type() == Type::kDouble;
  if ((is_double && std::isnan(number.as_double())) ||
      (is_decimal && is_nan(number.as_decimal128()))) {
    return fail(ErrorCode::kConversionFailure,
                "Attempt to convert NaN value to integer type in $convert with no onError value");
  }
  if ((is_double && std::isinf(number.as_double())) ||
      (is_decimal && is_infinite(number.as_decimal128()))) {
    return fail(
        ErrorCode::kConversionFailure,
        "Attempt to convert infinity value to integer type in $convert with no onError value");
  }
  if (is_decimal && !cut_decimal_to_int64(number.as_decimal128())) return refuse_overflow(number);
  if (is_double && !(number.as_double() >= -0x1p63 && number.as_double() < 0x1p63)) {
    return refuse_overflow(number);
  }
  const int64_t whole = cut_to_int64(number);
  // Servers compare a double with the limits before they cut off its fraction.
  const bool is_above = is_double && sizeof(Whole) == 4 && number.as_double() > 0x7fffffff;
  const bool is_below = is_double && sizeof(Whole) == 4 && number.as_double() < -0x1p31;
  if (is_above || is_below || whole < std::numeric_limits<Whole>::min() ||
      whole > std::numeric_limits<Whole>::max()) {
    return refuse_overflow(number);
  }
  return static_cast<Whole>(whole);
}

// Infinities and NaN are converted unchanged.
Result<double> decimal_to_double(ValueView number) {
  const bson::Decimal128 decimal = number.as_decimal128();
  const double value = bson::to_nearest_double(decimal);
  const bool overflows = std::isinf(value) && !is_infinite(decimal);
  const bool underflows = std::fabs(value) < std::numeric_limits<double>::min() &&
                          !is_zero(decimal) &&
                          bson::compare_numbers(bson::Value(value), number) != 0;
  if (overflows || underflows) return refuse_overflow(number);
  return value;
}

// Returns the fewest digits that convert back to the same double.
std::string double_to_shortest_text(double value) {
  if (std::isnan(value) || std::isinf(value)) return double_to_text(value);
  char text[64];
  const auto write = [&](std::chars_format format) {
    const auto [end, error] = std::to_chars(text, text + sizeof text, value, format);
    return std::string_view(text, static_cast<size_t>(end - text));
  };
  const std::string_view scientific = write(std::chars_format::scientific);
  const std::string exponent(scientific.substr(scientific.find('e') + 1));
  const int power = std::atoi(exponent.c_str());
  if (power < -4 || power >= 16) return std::string(scientific);
  return std::string(write(std::chars_format::fixed));
}

Evaluated to_double(EvaluationContext& context, ValueView value) {
  switch (value.type()) {
    case Type::kDouble:
      return MaybeValue(value);
    case Type::kInt32:
    case Type::kInt64:
      return give(context, *value.number());
    case Type::kDecimal128: {
      GM_ASSIGN(const double converted, decimal_to_double(value));
      return give(context, converted);
    }
    case Type::kBool:
      return give(context, value.as_bool() ? 1.0 : 0.0);
    case Type::kDate:
      return give(context, static_cast<double>(value.as_date().milliseconds));
    case Type::kString: {
      GM_ASSIGN(const double converted, double_from_text(value.as_string()));
      return give(context, converted);
    }
    default:
      return refuse_types(value, Type::kDouble);
  }
}

Evaluated to_int(EvaluationContext& context, ValueView value) {
  if (value.is_number()) {
    GM_ASSIGN(const int32_t converted, cut<int32_t>(value));
    return give(context, converted);
  }
  if (value.type() == Type::kBool) return give(context, int32_t{value.as_bool() ? 1 : 0});
  if (value.type() != Type::kString) return refuse_types(value, Type::kInt32);
  GM_ASSIGN(const int32_t converted, int32_from_text(value.as_string()));
  return give(context, converted);
}

Evaluated to_long(EvaluationContext& context, ValueView value) {
  if (value.is_number()) {
    GM_ASSIGN(const int64_t converted, cut<int64_t>(value));
    return give(context, converted);
  }
  if (value.type() == Type::kBool) return give(context, int64_t{value.as_bool() ? 1 : 0});
  if (value.type() == Type::kDate) return give(context, value.as_date().milliseconds);
  if (value.type() != Type::kString) return refuse_types(value, Type::kInt64);
  GM_ASSIGN(const int64_t converted, int64_from_text(value.as_string()));
  return give(context, converted);
}

Evaluated to_decimal_value(EvaluationContext& context, ValueView value) {
  if (value.type() == Type::kDecimal128) return MaybeValue(value);
  if (value.is_number()) return give(context, to_decimal(value));
  if (value.type() == Type::kBool) {
    return give(context, to_decimal(bson::Value(int32_t{value.as_bool() ? 1 : 0})));
  }
  if (value.type() == Type::kDate) {
    return give(context, to_decimal(bson::Value(value.as_date().milliseconds)));
  }
  if (value.type() != Type::kString) return refuse_types(value, Type::kDecimal128);
  GM_ASSIGN(const bson::Decimal128 converted, decimal128_from_text(value.as_string()));
  return give(context, converted);
}

Evaluated to_text(EvaluationContext& context, ValueView value) {
  switch (value.type()) {
    case Type::kString:
      return MaybeValue(value);
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDecimal128:
    case Type::kBool:
    case Type::kObjectId:
      return give(context, show(value));
    case Type::kDouble:
      return give(context, double_to_shortest_text(value.as_double()));
    case Type::kDate: {
      GM_ASSIGN(const std::string text,
                format_date("%Y-%m-%dT%H:%M:%S.%LZ", value.as_date(), TimeZone()));
      return give(context, text);
    }
    default:
      return refuse_types(value, Type::kString);
  }
}

Evaluated to_date(EvaluationContext& context, ValueView value) {
  if (value.type() == Type::kString) {
    GM_ASSIGN(const bson::Date date, parse_date(value.as_string(), TimeZone()));
    return give(context, date);
  }
  if (is_coercible_to_date(value)) {
    GM_ASSIGN(const bson::Date date, coerce_to_date(value));
    return give(context, date);
  }
  // Int32 is refused because current dates do not fit into it.
  if (!value.is_number() || value.type() == Type::kInt32) return refuse_types(value, Type::kDate);
  GM_ASSIGN(const int64_t milliseconds, cut<int64_t>(value));
  return give(context, bson::Date{milliseconds});
}

Evaluated to_object_id(EvaluationContext& context, ValueView value) {
  if (value.type() == Type::kObjectId) return MaybeValue(value);
  if (value.type() != Type::kString) return refuse_types(value, Type::kObjectId);
  const std::string_view text = value.as_string();
  if (const std::optional<bson::ObjectId> id = bson::ObjectId::from_hex(text)) {
    return give(context, *id);
  }
  const size_t wrong = text.find_first_not_of("0123456789abcdefABCDEF");
  const std::string reason =
      text.size() == 24
          ? "Invalid character found in hex string: " + std::string(bson::character_at(text, wrong))
          : "Invalid string length for parsing to OID, expected 24 but found " +
                std::to_string(text.size());
  return fail(ErrorCode::kConversionFailure, "Failed to parse objectId '" + std::string(text) +
                                                 "' in $convert with no onError value: " + reason);
}

}  // namespace

tl::unexpected<Error> refuse_conversion(std::string_view from, std::string_view to) {
  return fail(ErrorCode::kConversionFailure, "Unsupported conversion from " + std::string(from) +
                                                 " to " + std::string(to) +
                                                 " in $convert with no onError value");
}

Evaluated convert(EvaluationContext& context, ValueView value, Type target) {
  switch (target) {
    case Type::kDouble:
      return to_double(context, value);
    case Type::kString:
      return to_text(context, value);
    case Type::kObjectId:
      return to_object_id(context, value);
    case Type::kBool:
      return give(is_true(value));
    case Type::kDate:
      return to_date(context, value);
    case Type::kInt32:
      return to_int(context, value);
    case Type::kInt64:
      return to_long(context, value);
    case Type::kDecimal128:
      return to_decimal_value(context, value);
    default:
      return refuse_types(value, target);
  }
}

}  // namespace gridmount::query::expressions
