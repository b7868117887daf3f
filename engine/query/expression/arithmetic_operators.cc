// $add, $subtract, $multiply, $divide and $mod. Source: MongoDB manual, "Arithmetic Expression
// Operators". Result types and errors are the server's.

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "engine/query/decimal_arithmetic.h"
#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

using bson::Date;
using bson::Decimal128;
using bson::Type;
using bson::ValueView;

constexpr ErrorCode kSecondDate{16612};
constexpr ErrorCode kModByZero{16610};
constexpr ErrorCode kDecimalModByZero{5733415};
constexpr ErrorCode kModNeedsNumbers{16611};
constexpr ErrorCode kOutOfRangeOfLong{31109};
constexpr ErrorCode kDurationTooLong{159};

tl::unexpected<Error> fail_type(std::string message) {
  return fail(ErrorCode::kTypeMismatch, std::move(message));
}

int rank(Type type) {
  switch (type) {
    case Type::kInt32:
      return 0;
    case Type::kInt64:
      return 1;
    case Type::kDouble:
      return 2;
    default:
      return 3;
  }
}

// Returns the sum rounded, half towards zero as on servers.
std::optional<int64_t> sum_of(int64_t date, double number) {
  if (!(number >= -0x1p63 && number < 0x1p63)) return std::nullopt;
  const auto whole = static_cast<int64_t>(number);
  const double fraction = number - static_cast<double>(whole);
  int64_t sum = 0;
  if (__builtin_add_overflow(date, whole, &sum)) return std::nullopt;
  int64_t step = 0;
  if (fraction > 0.5 || (fraction == 0.5 && sum < 0)) step = 1;
  if (fraction < -0.5 || (fraction == -0.5 && sum > 0)) step = -1;
  if (__builtin_add_overflow(sum, step, &sum)) return std::nullopt;
  return sum;
}

// A running sum or product. Its type is the widest type so far. If an int64 overflows, the total
// becomes a double.
class Total {
 public:
  struct Operation {
    bool (*integers)(int64_t, int64_t, int64_t*);  // return true if the result overflows
    double (*doubles)(double, double);
    Decimal128 (*decimals)(Decimal128, Decimal128);
    int64_t start;
  };

  explicit Total(const Operation& operation) : operation_(operation), whole_(operation.start) {}

  void add(ValueView number) {
    widen(number.type());
    switch (type_) {
      case Type::kInt32:
      case Type::kInt64: {
        const int64_t value = number.type() == Type::kInt32 ? number.as_int32() : number.as_int64();
        int64_t result = 0;
        if (operation_.integers(whole_, value, &result)) {
          type_ = Type::kDouble;
          double_ = operation_.doubles(static_cast<double>(whole_), static_cast<double>(value));
        } else {
          whole_ = result;
        }
        break;
      }
      case Type::kDouble:
        double_ = operation_.doubles(double_, *number.number());
        break;
      default:
        decimal_ = operation_.decimals(decimal_, to_decimal(number));
    }
  }

  Status add_date(Date date) {
    if (date_) return fail(kSecondDate, "only one date allowed in an $add expression");
    date_ = date;
    return {};
  }

  Evaluated make_result(EvaluationContext& context) const {
    if (date_) {
      GM_ASSIGN(const int64_t milliseconds, in_milliseconds(date_->milliseconds));
      return give(context, Date{milliseconds});
    }
    switch (type_) {
      case Type::kInt32:
        return make_int_or_long(context, whole_);
      case Type::kInt64:
        return give(context, whole_);
      case Type::kDouble:
        return give(context, double_);
      default:
        return give(context, decimal_);
    }
  }

 private:
  void widen(Type type) {
    if (rank(type) <= rank(type_)) return;
    if (type == Type::kDouble) double_ = static_cast<double>(whole_);
    if (type == Type::kDecimal128) {
      decimal_ = type_ == Type::kDouble ? to_decimal(bson::Value(double_))
                                        : to_decimal(bson::Value(whole_));
    }
    type_ = type;
  }

  // Returns the sum with a date, rounded.
  Result<int64_t> in_milliseconds(int64_t date) const {
    std::optional<int64_t> sum;
    if (type_ == Type::kDecimal128) {
      sum = round_decimal_to_int64(query::add(decimal_, to_decimal(bson::Value(date))));
    } else if (type_ == Type::kDouble) {
      sum = sum_of(date, double_);
    } else if (int64_t whole = 0; !__builtin_add_overflow(date, whole_, &whole)) {
      sum = whole;
    }
    if (!sum) return fail(ErrorCode::kOverflow, "date overflow in $add");
    return *sum;
  }

  const Operation& operation_;
  Type type_ = Type::kInt32;
  std::optional<Date> date_;
  int64_t whole_;
  double double_ = 0;
  Decimal128 decimal_;
};

constexpr Total::Operation kSum{
    [](int64_t a, int64_t b, int64_t* result) { return __builtin_add_overflow(a, b, result); },
    [](double a, double b) { return a + b; }, query::add, 0};
constexpr Total::Operation kProduct{
    [](int64_t a, int64_t b, int64_t* result) { return __builtin_mul_overflow(a, b, result); },
    [](double a, double b) { return a * b; }, query::multiply, 1};

Evaluated evaluate_add(const Call& call) {
  Total total(kSum);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue value, call.argument(i));
    if (is_nullish(value)) return make_null();
    if (value->type() == Type::kDate) {
      GM_TRY(total.add_date(value->as_date()));
    } else if (!value->is_number()) {
      return fail_type("$add only supports numeric or date types, not " +
                       std::string(type_name(value)));
    } else {
      total.add(*value);
    }
  }
  return total.make_result(call.context);
}

Evaluated evaluate_multiply(const Call& call) {
  Total total(kProduct);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    GM_ASSIGN(const MaybeValue value, call.argument(i));
    if (is_nullish(value)) return make_null();
    if (!value->is_number()) {
      return fail_type("$multiply only supports numeric types, not " +
                       std::string(type_name(value)));
    }
    total.add(*value);
  }
  return total.make_result(call.context);
}

// Servers truncate a double that is subtracted from a date.
Result<int64_t> milliseconds_to_subtract(ValueView number) {
  if (number.type() == Type::kDouble) {
    const double value = number.as_double();
    if (value >= -0x1p63 && value < 0x1p63) return static_cast<int64_t>(value);
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%g", value);
    return fail(kOutOfRangeOfLong,
                "Can't coerce out of range value " + std::string(buffer) + " to long");
  }
  if (number.type() == Type::kDecimal128) {
    return round_decimal_to_int64(number.as_decimal128())
        .value_or(std::numeric_limits<int64_t>::min());
  }
  return number.integral().value_or(0);
}

Evaluated subtract_from_date(EvaluationContext& context, Date date, ValueView value) {
  int64_t difference = 0;
  if (value.type() == Type::kDate) {
    if (__builtin_sub_overflow(date.milliseconds, value.as_date().milliseconds, &difference)) {
      return fail(ErrorCode::kOverflow, "date overflow");
    }
    return give(context, difference);
  }
  if (!value.is_number()) {
    return fail_type("can't $subtract " + std::string(type_name(value)) + " from Date");
  }
  GM_ASSIGN(const int64_t milliseconds, milliseconds_to_subtract(value));
  if (milliseconds == std::numeric_limits<int64_t>::min()) {
    return fail(kDurationTooLong, "Cannot negate the minimum duration");
  }
  if (__builtin_sub_overflow(date.milliseconds, milliseconds, &difference)) {
    return fail(kDurationTooLong, "Overflow while adding " + std::to_string(-milliseconds) +
                                      "ms to " + std::to_string(date.milliseconds) + "ms");
  }
  return give(context, Date{difference});
}

Evaluated evaluate_subtract(const Call& call) {
  GM_ASSIGN(const MaybeValue left, call.argument(0));
  GM_ASSIGN(const MaybeValue right, call.argument(1));
  if (is_number(left) && is_number(right)) {
    const int widest = std::max(rank(left->type()), rank(right->type()));
    if (widest == rank(Type::kDecimal128)) {
      return give(call.context, query::subtract(to_decimal(*left), to_decimal(*right)));
    }
    int64_t difference = 0;
    if (widest == rank(Type::kDouble) ||
        __builtin_sub_overflow(*left->integral(), *right->integral(), &difference)) {
      return give(call.context, *left->number() - *right->number());
    }
    if (widest == rank(Type::kInt64)) return give(call.context, difference);
    return make_int_or_long(call.context, difference);
  }
  if (is_nullish(left) || is_nullish(right)) return make_null();
  if (left->type() == Type::kDate) {
    return subtract_from_date(call.context, left->as_date(), *right);
  }
  return fail_type("can't $subtract " + std::string(type_name(right)) + " from " +
                   std::string(type_name(left)));
}

Evaluated evaluate_divide(const Call& call) {
  GM_ASSIGN(const MaybeValue left, call.argument(0));
  GM_ASSIGN(const MaybeValue right, call.argument(1));
  if (is_number(left) && is_number(right)) {
    if (left->type() == Type::kDecimal128 || right->type() == Type::kDecimal128) {
      const Decimal128 divisor = to_decimal(*right);
      if (is_zero(divisor)) return fail(ErrorCode::kBadValue, "can't $divide by zero");
      return give(call.context, query::divide(to_decimal(*left), divisor));
    }
    const double divisor = *right->number();
    if (divisor == 0) return fail(ErrorCode::kBadValue, "can't $divide by zero");
    return give(call.context, *left->number() / divisor);
  }
  if (is_nullish(left) || is_nullish(right)) return make_null();
  return fail_type("$divide only supports numeric types, not " + std::string(type_name(left)) +
                   " and " + std::string(type_name(right)));
}

Evaluated evaluate_mod(const Call& call) {
  GM_ASSIGN(const MaybeValue left, call.argument(0));
  GM_ASSIGN(const MaybeValue right, call.argument(1));
  if (is_nullish(left) || is_nullish(right)) return make_null();
  if (!is_number(left) || !is_number(right)) {
    return fail(kModNeedsNumbers, "$mod only supports numeric types, not " +
                                      std::string(type_name(left)) + " and " +
                                      std::string(type_name(right)));
  }
  const auto by_zero = [](ErrorCode code) { return fail(code, "can't $mod by zero"); };
  if (left->type() == Type::kDecimal128 || right->type() == Type::kDecimal128) {
    const Decimal128 divisor = to_decimal(*right);
    if (is_zero(divisor)) return by_zero(kDecimalModByZero);
    return give(call.context, query::modulo(to_decimal(*left), divisor));
  }
  if (*right->number() == 0) return by_zero(kModByZero);
  // An integral double that fits 32 bits counts as an integer as the divisor, but not as the
  // dividend.
  const bool fits32 = whole32(right).has_value();
  if (left->type() == Type::kDouble || (right->type() == Type::kDouble && !fits32)) {
    return give(call.context, std::fmod(*left->number(), *right->number()));
  }
  const int64_t divisor = *right->integral();
  // The least int64 modulo -1 would trap.
  const int64_t rest = divisor == -1 ? 0 : *left->integral() % divisor;
  if (left->type() == Type::kInt64 || right->type() == Type::kInt64) {
    return give(call.context, rest);
  }
  return give(call.context, static_cast<int32_t>(rest));
}

constexpr Operator kArithmeticOperators[] = {
    {.name = "$add", .parse = parse_arguments, .evaluate = evaluate_add},
    {.name = "$multiply", .parse = parse_arguments, .evaluate = evaluate_multiply},
    {.name = "$subtract",
     .parse = parse_arguments,
     .evaluate = evaluate_subtract,
     .least = 2,
     .most = 2},
    {.name = "$divide",
     .parse = parse_arguments,
     .evaluate = evaluate_divide,
     .least = 2,
     .most = 2},
    {.name = "$mod", .parse = parse_arguments, .evaluate = evaluate_mod, .least = 2, .most = 2},
};

}  // namespace

std::span<const Operator> arithmetic_operators() {
  return kArithmeticOperators;
}

}  // namespace gridmount::query::expressions
