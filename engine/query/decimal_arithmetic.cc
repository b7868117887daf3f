#include "engine/query/decimal_arithmetic.h"

// The arithmetic is that of the Intel Decimal Floating-Point Math Library, which MongoDB uses too.
// So the digits of a result, including trailing zeros, are the same.
#include <bid_conf.h>
#include <bid_functions.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace gridmount::query {
namespace {

using bson::Decimal128;
using bson::Type;
using bson::Value;
using bson::ValueView;

constexpr int kDoubleDigits = 15;

BID_UINT128 library_type(Decimal128 decimal) {
  BID_UINT128 result;
  result.w[0] = decimal.low;
  result.w[1] = decimal.high;
  return result;
}

Decimal128 own_type(const BID_UINT128& decimal) {
  return {decimal.w[1], decimal.w[0]};
}

BID_UINT128 from_double(double value, int digits) {
  _IDEC_flags ignored = 0;
  if (value == 0.0 || !std::isfinite(value)) {
    return binary64_to_bid128(value, BID_ROUNDING_TO_NEAREST, &ignored);
  }
  char text[64];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text - 1, value, std::chars_format::scientific, digits - 1);
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
      return from_double(number.as_double(), kDoubleDigits);
    default:
      return library_type(number.as_decimal128());
  }
}

unsigned int library_rounding(DecimalRounding rounding) {
  switch (rounding) {
    case DecimalRounding::kDown:
      return BID_ROUNDING_DOWN;
    case DecimalRounding::kUp:
      return BID_ROUNDING_UP;
    case DecimalRounding::kTowardsZero:
      return BID_ROUNDING_TO_ZERO;
    case DecimalRounding::kNearestEven:
      break;
  }
  return BID_ROUNDING_TO_NEAREST;
}

// 0E-6176. Adding it to a number extends the number to as many digits as it can have.
constexpr Decimal128 kFinestZero{0, 0};

}  // namespace

Value add_decimals(ValueView a, ValueView b) {
  _IDEC_flags ignored = 0;
  return value_of(
      own_type(bid128_add(decimal_of(a), decimal_of(b), BID_ROUNDING_TO_NEAREST, &ignored)));
}

Value multiply_decimals(ValueView a, ValueView b) {
  _IDEC_flags ignored = 0;
  return value_of(
      own_type(bid128_mul(decimal_of(a), decimal_of(b), BID_ROUNDING_TO_NEAREST, &ignored)));
}

Value value_of(Decimal128 decimal) {
  // BSON stores the low half first, each half little-endian.
  const std::array halves{decimal.low, decimal.high};
  return Value(
      ValueView(Type::kDecimal128, reinterpret_cast<const uint8_t*>(halves.data()), sizeof halves));
}

Decimal128 to_decimal(ValueView number) {
  return own_type(decimal_of(number));
}

Decimal128 to_precise_decimal(double value) {
  _IDEC_flags ignored = 0;
  return own_type(binary64_to_bid128(value, BID_ROUNDING_TO_NEAREST, &ignored));
}

Decimal128 add(Decimal128 a, Decimal128 b) {
  _IDEC_flags ignored = 0;
  return own_type(bid128_add(library_type(a), library_type(b), BID_ROUNDING_TO_NEAREST, &ignored));
}

Decimal128 subtract(Decimal128 a, Decimal128 b) {
  _IDEC_flags ignored = 0;
  return own_type(bid128_sub(library_type(a), library_type(b), BID_ROUNDING_TO_NEAREST, &ignored));
}

Decimal128 multiply(Decimal128 a, Decimal128 b) {
  _IDEC_flags ignored = 0;
  return own_type(bid128_mul(library_type(a), library_type(b), BID_ROUNDING_TO_NEAREST, &ignored));
}

Decimal128 divide(Decimal128 a, Decimal128 b) {
  _IDEC_flags ignored = 0;
  return own_type(bid128_div(library_type(a), library_type(b), BID_ROUNDING_TO_NEAREST, &ignored));
}

Decimal128 modulo(Decimal128 a, Decimal128 b) {
  _IDEC_flags ignored = 0;
  return own_type(bid128_fmod(library_type(a), library_type(b), &ignored));
}

Decimal128 absolute(Decimal128 value) {
  return own_type(bid128_abs(library_type(value)));
}

Decimal128 square_root(Decimal128 value) {
  _IDEC_flags ignored = 0;
  return own_type(bid128_sqrt(library_type(value), BID_ROUNDING_TO_NEAREST, &ignored));
}

Decimal128 exponential(Decimal128 value) {
  _IDEC_flags ignored = 0;
  return own_type(bid128_exp(library_type(value), BID_ROUNDING_TO_NEAREST, &ignored));
}

Decimal128 natural_logarithm(Decimal128 value) {
  _IDEC_flags ignored = 0;
  return own_type(bid128_log(library_type(value), BID_ROUNDING_TO_NEAREST, &ignored));
}

Decimal128 logarithm(Decimal128 value, Decimal128 base) {
  _IDEC_flags ignored = 0;
  const BID_UINT128 number = library_type(value);
  if (bid128_quiet_equal(library_type(base), bid128_from_int32(10), &ignored) != 0) {
    return own_type(bid128_log10(number, BID_ROUNDING_TO_NEAREST, &ignored));
  }
  if (bid128_quiet_equal(library_type(base), bid128_from_int32(2), &ignored) != 0) {
    return own_type(bid128_log2(number, BID_ROUNDING_TO_NEAREST, &ignored));
  }
  return divide(natural_logarithm(value), natural_logarithm(base));
}

Decimal128 power(Decimal128 base, Decimal128 exponent) {
  _IDEC_flags ignored = 0;
  const BID_UINT128 number = library_type(base);
  const BID_UINT128 times = library_type(exponent);
  BID_UINT128 result;
  if (bid128_quiet_equal(number, bid128_from_int32(10), &ignored) != 0) {
    result = bid128_exp10(times, BID_ROUNDING_TO_NEAREST, &ignored);
  } else if (bid128_quiet_equal(number, bid128_from_int32(2), &ignored) != 0) {
    result = bid128_exp2(times, BID_ROUNDING_TO_NEAREST, &ignored);
  } else {
    result = bid128_pow(number, times, BID_ROUNDING_TO_NEAREST, &ignored);
  }
  return add(own_type(result), kFinestZero);
}

Decimal128 calculate(DecimalFunction function, Decimal128 value) {
  // In the order of DecimalFunction.
  static constexpr std::array kFunctions{bid128_sin,  bid128_cos,   bid128_tan,   bid128_asin,
                                         bid128_acos, bid128_atan,  bid128_sinh,  bid128_cosh,
                                         bid128_tanh, bid128_asinh, bid128_acosh, bid128_atanh};
  _IDEC_flags ignored = 0;
  return own_type(kFunctions[static_cast<size_t>(function)](library_type(value),
                                                            BID_ROUNDING_TO_NEAREST, &ignored));
}

Decimal128 arc_tangent(Decimal128 y, Decimal128 x) {
  _IDEC_flags ignored = 0;
  return own_type(
      bid128_atan2(library_type(y), library_type(x), BID_ROUNDING_TO_NEAREST, &ignored));
}

Decimal128 round_to_places(Decimal128 value, int places, DecimalRounding rounding) {
  _IDEC_flags ignored = 0;
  constexpr int kExponentBias = 6176;
  BID_UINT128 quantum;
  quantum.w[0] = 1;
  quantum.w[1] = static_cast<uint64_t>(kExponentBias - places) << 49;
  const BID_UINT128 rounded =
      bid128_quantize(library_type(value), quantum, library_rounding(rounding), &ignored);
  if (bid128_isNaN(rounded) == 0 || bid128_isFinite(library_type(value)) == 0) {
    return own_type(rounded);
  }
  // The library returns NaN because the number cannot have so many places. Then nothing is rounded
  // away, and the value is extended to as many places as it can have.
  constexpr BID_UINT128 kLeastZero{};
  return own_type(bid128_add(library_type(value), kLeastZero, BID_ROUNDING_TO_NEAREST, &ignored));
}

bool is_zero(Decimal128 value) {
  return bid128_isZero(library_type(value)) != 0;
}
bool is_negative(Decimal128 value) {
  return bid128_isSigned(library_type(value)) != 0;
}
bool is_nan(Decimal128 value) {
  return bid128_isNaN(library_type(value)) != 0;
}
bool is_infinite(Decimal128 value) {
  return bid128_isInf(library_type(value)) != 0;
}

std::optional<int64_t> cut_decimal_to_int64(Decimal128 value) {
  _IDEC_flags flags = 0;
  const int64_t cut = bid128_to_int64_int(library_type(value), &flags);
  if ((flags & BID_INVALID_EXCEPTION) != 0) return std::nullopt;
  return cut;
}

std::optional<int64_t> round_decimal_to_int64(Decimal128 value) {
  _IDEC_flags flags = 0;
  const int64_t rounded = bid128_to_int64_rnint(library_type(value), &flags);
  if ((flags & BID_INVALID_EXCEPTION) != 0) return std::nullopt;
  return rounded;
}

std::string decimal_to_text(Decimal128 value) {
  if (is_nan(value)) return "NaN";
  if (is_infinite(value)) return is_negative(value) ? "-Infinity" : "Infinity";
  // The library writes +DIGITSE+EXPONENT.
  char written[64];
  _IDEC_flags ignored = 0;
  bid128_to_string(written, library_type(value), &ignored);
  const std::string_view whole(written);
  const size_t e = whole.find('E');
  std::string digits(whole.substr(1, e - 1));
  const int exponent = std::atoi(written + e + 1);
  const int adjusted = exponent + static_cast<int>(digits.size()) - 1;
  std::string text = written[0] == '-' ? "-" : "";
  if (exponent > 0 || adjusted < -6) {
    text += digits[0];
    if (digits.size() > 1) text.append(".").append(digits, 1);
    text += adjusted < 0 ? "E" : "E+";
    return text + std::to_string(adjusted);
  }
  if (exponent == 0) return text + digits;
  const auto behind = static_cast<size_t>(-exponent);
  if (digits.size() <= behind) digits.insert(0, behind + 1 - digits.size(), '0');
  digits.insert(digits.size() - behind, ".");
  return text + digits;
}

std::optional<Decimal128> decimal_from_text(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
  const auto is = [&](std::string_view word) {
    return rest.size() == word.size() &&
           std::equal(rest.begin(), rest.end(), word.begin(), [](char a, char b) {
             return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
           });
  };
  const bool special = is("inf") || is("infinity") || is("nan");
  if (!special) {
    // digits [. digits] [E [sign] digits]
    size_t at = 0;
    const auto skip_digits = [&] {
      const size_t begin = at;
      while (at < rest.size() && rest[at] >= '0' && rest[at] <= '9') ++at;
      return at - begin;
    };
    size_t count = skip_digits();
    if (at < rest.size() && rest[at] == '.') {
      ++at;
      count += skip_digits();
    }
    if (count == 0) return std::nullopt;
    if (at < rest.size() && (rest[at] == 'E' || rest[at] == 'e')) {
      ++at;
      if (at < rest.size() && (rest[at] == '+' || rest[at] == '-')) ++at;
      if (skip_digits() == 0) return std::nullopt;
    }
    if (at != rest.size()) return std::nullopt;
  }
  _IDEC_flags flags = 0;
  std::string terminated(text);
  const BID_UINT128 result = bid128_from_string(terminated.data(), BID_ROUNDING_TO_NEAREST, &flags);
  if (!special && bid128_isFinite(result) == 0) return std::nullopt;
  if ((flags & BID_UNDERFLOW_EXCEPTION) != 0) return std::nullopt;
  return own_type(result);
}

}  // namespace gridmount::query
