// $sin to $atanh, $atan2, $degreesToRadians and $radiansToDegrees. Source: MongoDB manual,
// "Trigonometry Expression Operators".

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

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.141592653589793;

// The arguments that a function accepts, and whether they include the two ends.
struct Domain {
  double least = -kInfinity;
  double greatest = kInfinity;
  bool with_ends = true;
};

constexpr Domain kEverything{};
constexpr Domain kFinite{-kInfinity, kInfinity, false};
constexpr Domain kUnit{-1, 1};
constexpr Domain kFromOne{1, kInfinity};

bool contains(const Domain& domain, ValueView number) {
  const auto least = bson::compare_numbers(number, bson::Value(domain.least));
  const auto greatest = bson::compare_numbers(number, bson::Value(domain.greatest));
  return domain.with_ends ? least >= 0 && greatest <= 0 : least > 0 && greatest < 0;
}

bool is_not_a_number(ValueView number) {
  return number.type() == Type::kDecimal128 ? is_nan(number.as_decimal128())
                                            : std::isnan(*number.number());
}

// Formats a double with up to 16 digits. Infinities are "inf" and "-inf".
std::string written(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return double_to_text(value);
}

tl::unexpected<Error> refuse(const Call& call, const Domain& domain, ValueView number) {
  const std::string shown = number.type() == Type::kDecimal128
                                ? decimal_to_text(number.as_decimal128())
                                : written(*number.number());
  return fail(ErrorCode{50989}, "cannot apply " + call.name() + " to " + shown +
                                    ", value must be in " + (domain.with_ends ? "[" : "(") +
                                    written(domain.least) + "," + written(domain.greatest) +
                                    (domain.with_ends ? "]" : ")"));
}

// Returns the argument if it is a number. Returns nullopt for null. Fails with `code` for any other
// type.
Result<MaybeValue> number_argument(const Call& call, size_t i, ErrorCode code) {
  GM_ASSIGN(const MaybeValue value, call.argument(i));
  if (is_nullish(value)) return MaybeValue();
  if (value->is_number()) return value;
  return fail(code,
              call.name() + " only supports numeric types, not " + std::string(type_name(value)));
}

template <double (*of_double)(double), DecimalFunction of_decimal, const Domain& domain>
Evaluated evaluate_function(const Call& call) {
  GM_ASSIGN(const MaybeValue number, number_argument(call, 0, ErrorCode{28765}));
  if (!number) return make_null();
  if (!is_not_a_number(*number) && !contains(domain, *number)) {
    return refuse(call, domain, *number);
  }
  if (number->type() == Type::kDecimal128) {
    return give(call.context, calculate(of_decimal, number->as_decimal128()));
  }
  return give(call.context, of_double(*number->number()));
}

Evaluated evaluate_angle(const Call& call) {
  GM_ASSIGN(const MaybeValue y, number_argument(call, 0, ErrorCode{51044}));
  if (!y) return make_null();
  GM_ASSIGN(const MaybeValue x, number_argument(call, 1, ErrorCode{51045}));
  if (!x) return make_null();
  if (y->type() == Type::kDecimal128 || x->type() == Type::kDecimal128) {
    return give(call.context, arc_tangent(to_decimal(*y), to_decimal(*x)));
  }
  return give(call.context, std::atan2(*y->number(), *x->number()));
}

template <bool to_radians>
Evaluated evaluate_unit(const Call& call) {
  GM_ASSIGN(const MaybeValue number, number_argument(call, 0, ErrorCode{28765}));
  if (!number) return make_null();
  if (number->type() == Type::kDecimal128) {
    const Decimal128 factor =
        *decimal_from_text(to_radians ? "0.01745329251994329576923690768488613"
                                      : "57.29577951308232087679815481410517");
    return give(call.context, query::multiply(number->as_decimal128(), factor));
  }
  return give(call.context, *number->number() * (to_radians ? kPi / 180.0 : 180.0 / kPi));
}

constexpr Operator kTrigonometryOperators[] = {
    unary("$sin", evaluate_function<std::sin, DecimalFunction::kSine, kFinite>),
    unary("$cos", evaluate_function<std::cos, DecimalFunction::kCosine, kFinite>),
    unary("$tan", evaluate_function<std::tan, DecimalFunction::kTangent, kFinite>),
    unary("$asin", evaluate_function<std::asin, DecimalFunction::kArcSine, kUnit>),
    unary("$acos", evaluate_function<std::acos, DecimalFunction::kArcCosine, kUnit>),
    unary("$atan", evaluate_function<std::atan, DecimalFunction::kArcTangent, kEverything>),
    unary("$sinh", evaluate_function<std::sinh, DecimalFunction::kHyperbolicSine, kEverything>),
    unary("$cosh", evaluate_function<std::cosh, DecimalFunction::kHyperbolicCosine, kEverything>),
    unary("$tanh", evaluate_function<std::tanh, DecimalFunction::kHyperbolicTangent, kEverything>),
    unary("$asinh",
          evaluate_function<std::asinh, DecimalFunction::kHyperbolicArcSine, kEverything>),
    unary("$acosh", evaluate_function<std::acosh, DecimalFunction::kHyperbolicArcCosine, kFromOne>),
    unary("$atanh", evaluate_function<std::atanh, DecimalFunction::kHyperbolicArcTangent, kUnit>),
    unary("$degreesToRadians", evaluate_unit<true>),
    unary("$radiansToDegrees", evaluate_unit<false>),
    {.name = "$atan2", .parse = parse_arguments, .evaluate = evaluate_angle, .least = 2, .most = 2},
};

}  // namespace

std::span<const Operator> trigonometry_operators() {
  return kTrigonometryOperators;
}

}  // namespace gridmount::query::expressions
