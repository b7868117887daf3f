// $abs, $ceil, $floor, $round, $trunc, $exp, $ln, $log, $log10, $pow and $sqrt.
// Source: MongoDB manual, "Arithmetic Expression Operators".

#include <cmath>
#include <limits>

#include "engine/bson/number.h"
#include "engine/query/decimal_arithmetic.h"
#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

using bson::Decimal128;
using bson::Type;
using bson::ValueView;

__extension__ using Signed128 = __int128;

constexpr ErrorCode kNotANumber{28765};
constexpr int kPlacesLeast = -20;
constexpr int kPlacesMost = 100;

std::string written(double value) {
  return double_to_text(value);
}

// For operators on one number. The result for null is null. Fails if the argument is not a number.
template <Evaluated (*calculate)(const Call&, ValueView)>
Evaluated of_number(const Call& call) {
  GM_ASSIGN(const MaybeValue value, call.argument(0));
  if (is_nullish(value)) return make_null();
  if (!value->is_number()) {
    return fail(kNotANumber,
                call.name() + " only supports numeric types, not " + std::string(type_name(value)));
  }
  return calculate(call, *value);
}

bool is_decimal(ValueView number) {
  return number.type() == Type::kDecimal128;
}

Evaluated absolute_value(const Call& call, ValueView number) {
  if (is_decimal(number)) return give(call.context, absolute(number.as_decimal128()));
  if (number.type() == Type::kDouble) return give(call.context, std::fabs(number.as_double()));
  const int64_t value = *number.integral();
  if (value == std::numeric_limits<int64_t>::min()) {
    return fail(ErrorCode{28680}, "can't take $abs of long long min");
  }
  const int64_t result = value < 0 ? -value : value;
  if (number.type() == Type::kInt64) return give(call.context, result);
  return make_int_or_long(call.context, result);
}

Evaluated ceiling(const Call& call, ValueView number) {
  if (is_decimal(number)) {
    return give(call.context, round_to_places(number.as_decimal128(), 0, DecimalRounding::kUp));
  }
  if (number.type() == Type::kDouble) return give(call.context, std::ceil(number.as_double()));
  return MaybeValue(number);
}

Evaluated floor_value(const Call& call, ValueView number) {
  if (is_decimal(number)) {
    return give(call.context, round_to_places(number.as_decimal128(), 0, DecimalRounding::kDown));
  }
  if (number.type() == Type::kDouble) return give(call.context, std::floor(number.as_double()));
  return MaybeValue(number);
}

Evaluated exponential_value(const Call& call, ValueView number) {
  if (is_decimal(number)) return give(call.context, exponential(number.as_decimal128()));
  return give(call.context, std::exp(*number.number()));
}

Evaluated square_root_value(const Call& call, ValueView number) {
  const auto negative = [] {
    return fail(ErrorCode{28714}, "$sqrt's argument must be greater than or equal to 0");
  };
  if (is_decimal(number)) {
    const Decimal128 value = number.as_decimal128();
    if (is_negative(value) && !is_zero(value) && !is_nan(value)) return negative();
    return give(call.context, square_root(value));
  }
  const double value = *number.number();
  if (value < 0) return negative();
  return give(call.context, std::sqrt(value));
}

// As in mongod 6.0.5, the logarithm of a decimal NaN is a double NaN.
bool is_decimal_nan(ValueView number) {
  return is_decimal(number) && is_nan(number.as_decimal128());
}

// NaN is accepted, because its logarithm is NaN.
bool is_above_zero(ValueView number) {
  if (is_decimal(number)) {
    const Decimal128 value = number.as_decimal128();
    return is_nan(value) || (!is_negative(value) && !is_zero(value));
  }
  const double value = *number.number();
  return value > 0 || std::isnan(value);
}

Evaluated natural_logarithm_value(const Call& call, ValueView number) {
  if (!is_above_zero(number)) {
    return fail(ErrorCode{28766},
                "$ln's argument must be a positive number, but is " + written(*number.number()));
  }
  if (is_decimal_nan(number)) return give(call.context, *number.number());
  if (is_decimal(number)) return give(call.context, natural_logarithm(number.as_decimal128()));
  return give(call.context, std::log(*number.number()));
}

Evaluated decimal_logarithm_value(const Call& call, ValueView number) {
  if (!is_above_zero(number)) {
    return fail(ErrorCode{28761},
                "$log10's argument must be a positive number, but is " + written(*number.number()));
  }
  if (is_decimal_nan(number)) return give(call.context, *number.number());
  if (is_decimal(number)) {
    return give(call.context, logarithm(number.as_decimal128(), to_decimal(bson::Value(10))));
  }
  return give(call.context, std::log10(*number.number()));
}

Evaluated evaluate_log(const Call& call) {
  GM_ASSIGN(const MaybeValue number, call.argument(0));
  GM_ASSIGN(const MaybeValue base, call.argument(1));
  if (is_nullish(number) || is_nullish(base)) return make_null();
  if (!number->is_number()) {
    return fail(ErrorCode{28756},
                "$log's argument must be numeric, not " + std::string(type_name(number)));
  }
  if (!base->is_number()) {
    return fail(ErrorCode{28757},
                "$log's base must be numeric, not " + std::string(type_name(base)));
  }
  if (!is_above_zero(*number)) {
    return fail(ErrorCode{28758},
                "$log's argument must be a positive number, but is " + written(*number->number()));
  }
  if (!is_above_zero(*base) || bson::compare_numbers(*base, bson::Value(1)) == 0) {
    return fail(ErrorCode{28759}, "$log's base must be a positive number not equal to 1, but is " +
                                      written(*base->number()));
  }
  if (is_decimal_nan(*number)) return give(call.context, *number->number());
  if (is_decimal(*number) || is_decimal(*base)) {
    return give(call.context, logarithm(to_decimal(*number), to_decimal(*base)));
  }
  return give(call.context, std::log(*number->number()) / std::log(*base->number()));
}

// Returns nullopt if the result overflows.
std::optional<int64_t> integer_power(int64_t base, int64_t exponent) {
  if (exponent == 0 || base == 1) return 1;
  if (base == 0) return 0;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  if (exponent < 0 || exponent > 63) return std::nullopt;
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return result;
}

Evaluated evaluate_pow(const Call& call) {
  GM_ASSIGN(const MaybeValue base, call.argument(0));
  GM_ASSIGN(const MaybeValue exponent, call.argument(1));
  if (is_nullish(base) || is_nullish(exponent)) return make_null();
  if (!base->is_number()) {
    return fail(ErrorCode{28762},
                "$pow's base must be numeric, not " + std::string(type_name(base)));
  }
  if (!exponent->is_number()) {
    return fail(ErrorCode{28763},
                "$pow's exponent must be numeric, not " + std::string(type_name(exponent)));
  }
  const auto no_result = [] {
    return fail(ErrorCode{28764}, "$pow cannot take a base of 0 and a negative exponent");
  };
  if (is_decimal(*base) || is_decimal(*exponent)) {
    const Decimal128 number = to_decimal(*base);
    const Decimal128 times = to_decimal(*exponent);
    if (is_zero(number) && is_negative(times)) return no_result();
    return give(call.context, power(number, times));
  }
  if (*base->number() == 0 && *exponent->number() < 0) return no_result();
  if (base->type() != Type::kDouble && exponent->type() != Type::kDouble) {
    if (const auto result = integer_power(*base->integral(), *exponent->integral())) {
      if (base->type() == Type::kInt64 || exponent->type() == Type::kInt64) {
        return give(call.context, *result);
      }
      return make_int_or_long(call.context, *result);
    }
  }
  return give(call.context, std::pow(*base->number(), *exponent->number()));
}

// Rounds an integer to a multiple of 10^zeros.
Evaluated round_integer(const Call& call, ValueView number, int zeros, DecimalRounding rounding) {
  const int64_t value = *number.integral();
  Signed128 unit = 1;
  for (int i = 0; i < zeros; ++i) unit *= 10;
  Signed128 multiple = value / unit;
  const Signed128 rest = value % unit;
  const Signed128 twice = (rest < 0 ? -rest : rest) * 2;
  if (rounding == DecimalRounding::kNearestEven &&
      (twice > unit || (twice == unit && multiple % 2 != 0))) {
    multiple += value < 0 ? -1 : 1;
  }
  const Signed128 rounded = multiple * unit;
  if (rounded < std::numeric_limits<int64_t>::min() ||
      rounded > std::numeric_limits<int64_t>::max()) {
    return fail(ErrorCode{51080}, "invalid conversion from Decimal128 result in " + call.name() +
                                      " resulting from arguments: [" + std::to_string(value) +
                                      ", " + std::to_string(-zeros) + "]");
  }
  const auto result = static_cast<int64_t>(rounded);
  if (number.type() == Type::kInt64) return give(call.context, result);
  return make_int_or_long(call.context, result);
}

Evaluated round_double(const Call& call, double value, int places, DecimalRounding rounding) {
  // For smaller values, the decimal computation gives the same result, because their integral parts
  // have at most 34 digits.
  constexpr double kWholeBelow = 1e33;
  if (std::isinf(value)) return give(call.context, value);
  if (places == 0 && std::fabs(value) < kWholeBelow) {
    return give(call.context, rounding == DecimalRounding::kTowardsZero ? std::trunc(value)
                                                                        : std::nearbyint(value));
  }
  const Decimal128 rounded = round_to_places(to_precise_decimal(value), places, rounding);
  if (is_nan(rounded)) return give(call.context, std::numeric_limits<double>::quiet_NaN());
  return give(call.context, bson::to_nearest_double(rounded));
}

template <DecimalRounding rounding>
Evaluated evaluate_round(const Call& call) {
  GM_ASSIGN(const MaybeValue number, call.argument(0));
  if (is_nullish(number)) return make_null();
  if (!number->is_number()) {
    return fail(ErrorCode{51081}, call.name() + " only supports numeric types, not " +
                                      std::string(type_name(number)));
  }
  int places = 0;
  if (call.has(1)) {
    GM_ASSIGN(const MaybeValue precision, call.argument(1));
    if (is_nullish(precision)) return make_null();
    const std::optional<int32_t> whole = whole32(precision);
    if (!whole) {
      return fail(ErrorCode{51082},
                  "precision argument to  " + call.name() + " must be a integral value");
    }
    if (*whole < kPlacesLeast || *whole > kPlacesMost) {
      return fail(ErrorCode{51083}, "cannot apply " + call.name() + " with precision value " +
                                        std::to_string(*whole) + " value must be in [-20, 100]");
    }
    places = *whole;
  }
  switch (number->type()) {
    case Type::kDecimal128: {
      const Decimal128 value = number->as_decimal128();
      if (is_infinite(value)) return number;
      return give(call.context, round_to_places(value, places, rounding));
    }
    case Type::kDouble:
      return round_double(call, number->as_double(), places, rounding);
    default:
      if (places >= 0) return number;
      return round_integer(call, *number, -places, rounding);
  }
}

constexpr Operator rounding_operator(std::string_view name, Evaluated (*evaluate)(const Call&)) {
  return {.name = name, .parse = parse_arguments, .evaluate = evaluate, .least = 1, .most = 2};
}

constexpr Operator kMathOperators[] = {
    unary("$abs", of_number<absolute_value>),
    unary("$ceil", of_number<ceiling>),
    unary("$floor", of_number<floor_value>),
    unary("$exp", of_number<exponential_value>),
    unary("$ln", of_number<natural_logarithm_value>),
    unary("$log10", of_number<decimal_logarithm_value>),
    unary("$sqrt", of_number<square_root_value>),
    rounding_operator("$round", evaluate_round<DecimalRounding::kNearestEven>),
    rounding_operator("$trunc", evaluate_round<DecimalRounding::kTowardsZero>),
    binary("$log", evaluate_log),
    binary("$pow", evaluate_pow),
};

}  // namespace

std::span<const Operator> math_operators() {
  return kMathOperators;
}

}  // namespace gridmount::query::expressions
