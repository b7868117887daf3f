#include "engine/query/expression/number_sum.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "engine/query/decimal_arithmetic.h"

namespace gridmount::query::expressions {

using bson::Type;
using bson::Value;

namespace {

struct ExactSum {
  double sum;
  double error;  // the exact rounding error of the sum
};

// Knuth's addition, for operands of any size.
ExactSum add_exactly(double a, double b) {
  const double sum = a + b;
  const double of_a = sum - b;
  const double of_b = sum - of_a;
  return {sum, (a - of_a) + (b - of_b)};
}

// Dekker's addition. The error is exact only if |b| <= |a|.
ExactSum add_smaller(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

}  // namespace

void DoubleSum::add(double value) {
  plain_ += value;
  const ExactSum with_error = add_smaller(value, error_);
  const ExactSum total = add_exactly(sum_, with_error.sum);
  sum_ = total.sum;
  error_ = with_error.error + total.error;
}

void DoubleSum::add(int64_t value) {
  constexpr int64_t kHalf = int64_t{1} << 32;
  const int64_t high = value / kHalf * kHalf;
  add(static_cast<double>(value - high));
  add(static_cast<double>(high));
}

double DoubleSum::nearest() const {
  return std::isnan(sum_) ? plain_ : sum_;
}

bson::Decimal128 DoubleSum::decimal() const {
  if (!std::isfinite(sum_)) return to_precise_decimal(plain_);
  return query::add(to_precise_decimal(sum_), to_precise_decimal(error_));
}

std::optional<int64_t> DoubleSum::integer() const {
  __extension__ using WideInteger = __int128;
  constexpr double kBeyondInt64 = 0x1p64;
  if (std::fabs(sum_) >= kBeyondInt64) return std::nullopt;
  const WideInteger exact = static_cast<WideInteger>(sum_) + static_cast<WideInteger>(error_);
  if (exact < std::numeric_limits<int64_t>::min() || exact > std::numeric_limits<int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int64_t>(exact);
}

void NumberSum::leave_small() {
  if (is_small_) others_.add(static_cast<double>(small_));
  is_small_ = false;
}

DoubleSum NumberSum::others() const {
  DoubleSum sum = others_;
  if (is_small_) sum.add(static_cast<double>(small_));
  return sum;
}

void NumberSum::add(bson::ValueView number) {
  constexpr int64_t kSmallMax = (int64_t{1} << 53) - (int64_t{1} << 31);
  ++count_;
  if (is_small_ && number.type() == Type::kInt32 && std::abs(small_) <= kSmallMax) {
    small_ += number.as_int32();
    return;
  }
  leave_small();
  switch (number.type()) {
    case Type::kInt32:
      others_.add(static_cast<double>(number.as_int32()));
      break;
    case Type::kInt64:
      if (type_ == Type::kInt32) type_ = Type::kInt64;
      others_.add(number.as_int64());
      break;
    case Type::kDouble:
      if (type_ != Type::kDecimal128) type_ = Type::kDouble;
      others_.add(number.as_double());
      break;
    default:
      type_ = Type::kDecimal128;
      decimals_ = query::add(decimals_, number.as_decimal128());
  }
}

bson::Decimal128 NumberSum::as_decimal() const {
  return query::add(decimals_, others().decimal());
}

Value NumberSum::total() const {
  if (type_ == Type::kDecimal128) return value_of(as_decimal());
  if (type_ == Type::kDouble) return Value(others().nearest());
  const std::optional<int64_t> whole = others().integer();
  if (!whole) return Value(others().nearest());
  const auto narrow = static_cast<int32_t>(*whole);
  if (type_ == Type::kInt32 && narrow == *whole) return Value(narrow);
  return Value(*whole);
}

std::optional<Value> NumberSum::average() const {
  if (count_ == 0) return std::nullopt;
  if (type_ != Type::kDecimal128) return Value(others().nearest() / static_cast<double>(count_));
  return value_of(query::divide(as_decimal(), to_decimal(Value(count_))));
}

void NumberDeviation::add(bson::ValueView number) {
  const double value = *number.number();
  ++count_;
  const double delta = value - mean_;
  if (delta == 0) return;
  mean_ += delta / static_cast<double>(count_);
  squares_ += delta * (value - mean_);
}

std::optional<double> NumberDeviation::of(int64_t freedom) const {
  if (freedom <= 0) return std::nullopt;
  return std::sqrt(squares_ / static_cast<double>(freedom));
}

}  // namespace gridmount::query::expressions
