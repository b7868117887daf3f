#include "engine/query/pipeline/number_total.h"

// As decimal_arithmetic.cc, which rounds doubles to 15 digits where sums keep all.
#include <bid_conf.h>
#include <bid_functions.h>

#include <cmath>
#include <limits>

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

BID_UINT128 bid_of(bson::Decimal128 decimal) {
  BID_UINT128 result;
  result.w[0] = decimal.low;
  result.w[1] = decimal.high;
  return result;
}

bson::Decimal128 decimal_of(const BID_UINT128& value) {
  return {value.w[1], value.w[0]};
}

Value value_of(const BID_UINT128& value) {
  // As BSON has it: the low half first, each little-endian.
  return Value(
      ValueView(Type::kDecimal128, reinterpret_cast<const uint8_t*>(value.w), sizeof value.w));
}

BID_UINT128 sum_of(BID_UINT128 a, BID_UINT128 b) {
  _IDEC_flags ignored = 0;
  return bid128_add(a, b, BID_ROUNDING_TO_NEAREST, &ignored);
}

BID_UINT128 exactly(double value) {
  _IDEC_flags ignored = 0;
  return binary64_to_bid128(value, BID_ROUNDING_TO_NEAREST, &ignored);
}

}  // namespace

void NumberTotal::add_double(double value) {
  // Knuth's two-sum: the rounding error of each addition is kept.
  plain_sum_ += value;
  const double sum = sum_ + value;
  const double part = sum - sum_;
  rest_ += (sum_ - (sum - part)) + (value - part);
  sum_ = sum;
}

void NumberTotal::add_other(ValueView number) {
  switch (number.type()) {
    case Type::kInt64:
      has_int64_ = true;
      integers_ += number.as_int64();
      return;
    case Type::kDouble:
      has_double_ = true;
      return add_double(number.as_double());
    default: {
      const BID_UINT128 value = bid_of(number.as_decimal128());
      decimal_ = decimal_of(has_decimal_ ? sum_of(bid_of(decimal_), value) : value);
      has_decimal_ = true;
    }
  }
}

double NumberTotal::as_double() const {
  const auto integers = static_cast<double>(integers_);
  if (!has_double_) return integers;
  if (!std::isfinite(sum_) || !std::isfinite(rest_)) return plain_sum_;
  // What rounding takes from the integers and from adding them belongs to the rest.
  NumberTotal whole;
  whole.sum_ = sum_;
  whole.add_double(integers);
  const double rounded_off = std::fabs(integers) < 0x1p126
                                 ? static_cast<double>(integers_ - static_cast<Integer>(integers))
                                 : 0;
  return whole.sum_ + (whole.rest_ + rest_ + rounded_off);
}

Value NumberTotal::as_decimal() const {
  _IDEC_flags ignored = 0;
  BID_UINT128 total = bid_of(decimal_);
  // A zero that has no sign and no digits behind the point, as servers begin with.
  total = sum_of(total, bid128_from_int32(0));
  if (integers_ != 0) {
    // An integer of 128 bits in two halves, the low one without a sign.
    const auto high = static_cast<int64_t>(integers_ >> 64);
    const auto low = static_cast<uint64_t>(integers_);
    BID_UINT128 integers = bid128_from_uint64(low);
    if (high != 0) {
      const BID_UINT128 factor = exactly(0x1p64);
      integers = sum_of(
          bid128_mul(bid128_from_int64(high), factor, BID_ROUNDING_TO_NEAREST, &ignored), integers);
    }
    total = sum_of(total, integers);
  }
  if (has_double_) {
    if (std::isfinite(sum_) && std::isfinite(rest_)) {
      total = sum_of(total, sum_of(exactly(sum_), exactly(rest_)));
    } else {
      total = sum_of(total, exactly(plain_sum_));
    }
  }
  return value_of(total);
}

Value NumberTotal::total() const {
  if (has_decimal_) return as_decimal();
  if (has_double_) return Value(as_double());
  if (!has_int64_ && integers_ >= std::numeric_limits<int32_t>::min() &&
      integers_ <= std::numeric_limits<int32_t>::max()) {
    return Value(static_cast<int32_t>(integers_));
  }
  if (integers_ >= std::numeric_limits<int64_t>::min() &&
      integers_ <= std::numeric_limits<int64_t>::max()) {
    return Value(static_cast<int64_t>(integers_));
  }
  return Value(as_double());
}

Value NumberTotal::average(int64_t count) const {
  if (!has_decimal_) return Value(as_double() / static_cast<double>(count));
  _IDEC_flags ignored = 0;
  return value_of(bid128_div(bid_of(as_decimal().view().as_decimal128()), bid128_from_int64(count),
                             BID_ROUNDING_TO_NEAREST, &ignored));
}

}  // namespace gridmount::query
