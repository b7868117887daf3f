#include "engine/query/decimal_arithmetic.h"

// The arithmetic is the Intel Decimal Floating-Point Math Library's, as it is MongoDB's: the digits
// of a result, trailing zeros included, are then the same.
#include <bid_conf.h>
#include <bid_functions.h>

#include <cassert>
#include <charconv>
#include <cmath>
#include <cstring>

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

constexpr int kDoubleDigits = 15;

BID_UINT128 from_double(double value) {
  _IDEC_flags ignored = 0;
  if (value == 0.0 || !std::isfinite(value)) {
    return binary64_to_bid128(value, BID_ROUNDING_TO_NEAREST, &ignored);
  }
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text - 1, value,
                                          std::chars_format::scientific, kDoubleDigits - 1);
  assert(error == std::errc());
  *end = '\0';
  return bid128_from_string(text, BID_ROUNDING_TO_NEAREST, &ignored);
}

BID_UINT128 decimal_of(ValueView number) {
  switch (number.type()) {
    case Type::kInt32:
      return bid128_from_int32(number.as_int32());
    case Type::kInt64:
      return bid128_from_int64(number.as_int64());
    case Type::kDouble:
      return from_double(number.as_double());
    default: {
      const bson::Decimal128 decimal = number.as_decimal128();
      BID_UINT128 result;
      result.w[0] = decimal.low;
      result.w[1] = decimal.high;
      return result;
    }
  }
}

Value value_of(const BID_UINT128& decimal) {
  // As BSON has it: the low half first, each little-endian.
  uint8_t bytes[16];
  static_assert(sizeof decimal.w == sizeof bytes);
  std::memcpy(bytes, decimal.w, sizeof bytes);
  return Value(ValueView(Type::kDecimal128, bytes, sizeof bytes));
}

}  // namespace

Value add_decimals(ValueView a, ValueView b) {
  _IDEC_flags ignored = 0;
  return value_of(bid128_add(decimal_of(a), decimal_of(b), BID_ROUNDING_TO_NEAREST, &ignored));
}

Value multiply_decimals(ValueView a, ValueView b) {
  _IDEC_flags ignored = 0;
  return value_of(bid128_mul(decimal_of(a), decimal_of(b), BID_ROUNDING_TO_NEAREST, &ignored));
}

}  // namespace gridmount::query
