#include "engine/query/pipeline/removable_sum.h"

#include <cmath>
#include <limits>

#include "engine/query/decimal_arithmetic.h"

namespace gridmount::query {
namespace {

using bson::Decimal128;
using bson::Type;
using bson::Value;
using bson::ValueView;

Value int_or_long(int64_t value) {
  const auto narrow = static_cast<int32_t>(value);
  return narrow == value ? Value(narrow) : Value(value);
}

Decimal128 negative(Decimal128 value) {
  value.high ^= uint64_t{1} << 63;
  return value;
}

// Returns a value that is not finite, with the widest type in the sum.
Value as_widest(double value, bool is_decimal) {
  return is_decimal ? value_of(to_decimal(Value(value))) : Value(value);
}

}  // namespace

void RemovableSum::update_integer(int64_t value, ValueView original, int quantity) {
  if (quantity > 0) return sum_.add(original);
  const bool is_long = original.type() == Type::kInt64;
  const int64_t least = is_long ? std::numeric_limits<int64_t>::min() : INT32_MIN;
  if (value == least) {
    // The negative is out of range, so it is added in two parts.
    const int64_t most = -(value + 1);
    sum_.add(is_long ? Value(most) : Value(static_cast<int32_t>(most)));
    sum_.add(Value(int32_t{1}));
  } else {
    sum_.add(is_long ? Value(-value) : Value(static_cast<int32_t>(-value)));
  }
}

void RemovableSum::update_double(double value, int quantity) {
  doubles_ += quantity;
  if (std::isnan(value)) {
    nans_ += quantity;
  } else if (std::isinf(value)) {
    (value > 0 ? positive_infinities_ : negative_infinities_) += quantity;
  } else {
    sum_.add(Value(value * quantity));
  }
}

void RemovableSum::update_decimal(Decimal128 value, int quantity) {
  decimals_ += quantity;
  if (is_nan(value)) {
    nans_ += quantity;
  } else if (is_infinite(value)) {
    (is_negative(value) ? negative_infinities_ : positive_infinities_) += quantity;
  } else {
    sum_.add(value_of(quantity > 0 ? value : negative(value)));
  }
}

void RemovableSum::update(ValueView value, int quantity) {
  if (!value.is_number()) return;
  count_ += quantity;
  switch (value.type()) {
    case Type::kInt32:
      return update_integer(value.as_int32(), value, quantity);
    case Type::kInt64:
      return update_integer(value.as_int64(), value, quantity);
    case Type::kDouble:
      return update_double(value.as_double(), quantity);
    default:
      return update_decimal(value.as_decimal128(), quantity);
  }
}

std::optional<Value> RemovableSum::not_finite() const {
  const bool is_decimal = decimals_ > 0;
  if (nans_ > 0 || (positive_infinities_ > 0 && negative_infinities_ > 0)) {
    return as_widest(std::numeric_limits<double>::quiet_NaN(), is_decimal);
  }
  if (positive_infinities_ > 0) {
    return as_widest(std::numeric_limits<double>::infinity(), is_decimal);
  }
  if (negative_infinities_ > 0) {
    return as_widest(-std::numeric_limits<double>::infinity(), is_decimal);
  }
  return std::nullopt;
}

Value RemovableSum::total() const {
  if (const std::optional<Value> special = not_finite()) return *special;
  const Value sum = sum_.total();
  const ValueView view = sum.view();
  // `sum` has the widest type that was ever added. The result has the widest type of the values
  // that have not been removed.
  if (sum.type() == Type::kDecimal128 && decimals_ == 0) {
    if (doubles_ > 0) return Value(*view.number());
    const std::optional<int64_t> whole = round_decimal_to_int64(view.as_decimal128());
    return whole ? int_or_long(*whole) : Value(*view.number());
  }
  if (sum.type() == Type::kDouble && doubles_ == 0) {
    const double value = view.as_double();
    if (value >= -0x1p63 && value < 0x1p63) return int_or_long(std::llround(value));
  }
  if (sum.type() == Type::kInt64) return int_or_long(view.as_int64());
  return sum;
}

std::optional<Value> RemovableSum::average() const {
  if (count_ == 0) return std::nullopt;
  const Value sum = total();
  const ValueView view = sum.view();
  if (sum.type() == Type::kDecimal128) {
    const Decimal128 decimal = view.as_decimal128();
    if (is_nan(decimal) || is_infinite(decimal)) return sum;
    return value_of(divide(decimal, to_decimal(Value(count_))));
  }
  return Value(*view.number() / static_cast<double>(count_));
}

}  // namespace gridmount::query
