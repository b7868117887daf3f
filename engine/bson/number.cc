#include "engine/bson/number.h"

#include <bson/bson.h>

#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

namespace gridmount::bson {
namespace {

__extension__ using Unsigned128 = unsigned __int128;
__extension__ using Signed128 = __int128;

constexpr int kDigitsMax = 34;
constexpr int kExponentBias = 6176;
// An int64 has at most this many decimal digits.
constexpr int kInt64DigitsMax = 19;
// A double has at most this many significant decimal digits, and printf prints all of them.
constexpr int kDoubleDigitsMax = 767;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Unsigned128 power_of_ten(int exponent) {
  Unsigned128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// Source: IEEE 754-2008, 3.5.2, with the coefficient encoded as a binary integer.
struct Decimal {
  enum class Kind { kFinite, kInfinite, kNan };
  Kind kind = Kind::kFinite;
  bool negative = false;
  Unsigned128 coefficient = 0;
  int exponent = 0;
};

Decimal decode(Decimal128 value) {
  Decimal decimal;
  decimal.negative = (value.high >> 63) != 0;
  const uint64_t combination = value.high >> 58 & 0x1F;
  if (combination == 0x1F) {
    decimal.kind = Decimal::Kind::kNan;
  } else if (combination == 0x1E) {
    decimal.kind = Decimal::Kind::kInfinite;
  } else if (combination >> 3 == 3) {
    // The coefficient would exceed 34 digits. Such a non-canonical value stands for zero.
    decimal.exponent = static_cast<int>(value.high >> 47 & 0x3FFF) - kExponentBias;
  } else {
    decimal.exponent = static_cast<int>(value.high >> 49 & 0x3FFF) - kExponentBias;
    decimal.coefficient = Unsigned128{value.high & 0x1FFFFFFFFFFFF} << 64 | value.low;
    if (decimal.coefficient >= power_of_ten(kDigitsMax)) decimal.coefficient = 0;
  }
  return decimal;
}

Decimal from_int64(int64_t value) {
  Decimal decimal;
  decimal.negative = value < 0;
  // The least int64 has no positive counterpart in two's complement.
  decimal.coefficient =
      value < 0 ? ~static_cast<uint64_t>(value) + Unsigned128{1} : static_cast<uint64_t>(value);
  return decimal;
}

// The magnitude as 0.DIGITS times ten to the power of `point`. `digits` has no zeros at either end.
struct Magnitude {
  std::string digits;  // empty for zero
  int point = 0;

  void trim() {
    const size_t first = digits.find_first_not_of('0');
    if (first == std::string::npos) {
      digits.clear();
      point = 0;
      return;
    }
    digits.erase(0, first);
    point -= static_cast<int>(first);
    digits.erase(digits.find_last_not_of('0') + 1);
  }
};

Magnitude magnitude_of(const Decimal& decimal) {
  Magnitude magnitude;
  for (Unsigned128 rest = decimal.coefficient; rest != 0; rest /= 10) {
    magnitude.digits.insert(magnitude.digits.begin(),
                            static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  magnitude.point = static_cast<int>(magnitude.digits.size()) + decimal.exponent;
  magnitude.trim();
  return magnitude;
}

Magnitude magnitude_of(double value) {
  char text[kDoubleDigitsMax + 32];
  snprintf(text, sizeof text, "%.*e", kDoubleDigitsMax - 1, std::fabs(value));
  const std::string_view printed(text);
  const size_t e = printed.find('e');
  Magnitude magnitude;
  magnitude.digits = std::string(printed.substr(0, 1)) + std::string(printed.substr(2, e - 2));
  magnitude.point = atoi(text + e + 1) + 1;
  magnitude.trim();
  return magnitude;
}

// Returns the integer part, which must have at most kInt64DigitsMax digits.
Unsigned128 integer_part(const Magnitude& magnitude) {
  Unsigned128 integer = 0;
  for (int i = 0; i < magnitude.point; ++i) {
    const auto at = static_cast<size_t>(i);
    integer = integer * 10;
    if (at < magnitude.digits.size()) integer += static_cast<unsigned>(magnitude.digits[at] - '0');
  }
  return integer;
}

// Rounds half to even. Returns 0 for NaN, and the nearest int64 for a number out of range.
int64_t nearest_int64(const Decimal& decimal) {
  if (decimal.kind == Decimal::Kind::kNan) return 0;
  const int64_t extreme =
      decimal.negative ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  if (decimal.kind == Decimal::Kind::kInfinite) return extreme;
  const Magnitude magnitude = magnitude_of(decimal);
  if (magnitude.point > kInt64DigitsMax) return extreme;
  Unsigned128 integer = integer_part(magnitude);
  if (magnitude.point >= 0 && static_cast<size_t>(magnitude.point) < magnitude.digits.size()) {
    // The digits do not end with zeros, so only the fraction "5" is exactly one half.
    const std::string fraction = magnitude.digits.substr(static_cast<size_t>(magnitude.point));
    const bool is_half = fraction == "5";
    if (is_half ? integer % 2 != 0 : fraction[0] >= '5') ++integer;
  }
  const Unsigned128 limit = Unsigned128{1} << 63;
  if (integer >= limit) return extreme;
  const auto whole = static_cast<int64_t>(integer);
  return decimal.negative ? -whole : whole;
}

std::strong_ordering compare_magnitudes(const Magnitude& a, const Magnitude& b) {
  if (a.digits.empty() || b.digits.empty()) return !a.digits.empty() <=> !b.digits.empty();
  if (a.point != b.point) return a.point <=> b.point;
  return a.digits.compare(b.digits) <=> 0;
}

// `decimal` and `value` must be finite.
std::strong_ordering compare_exactly(const Decimal& decimal, double value) {
  const Magnitude a = magnitude_of(decimal);
  const Magnitude b = magnitude_of(value);
  const int sign_a = a.digits.empty() ? 0 : decimal.negative ? -1 : 1;
  const int sign_b = b.digits.empty() ? 0 : value < 0 ? -1 : 1;
  if (sign_a != sign_b) return sign_a <=> sign_b;
  return sign_a < 0 ? compare_magnitudes(b, a) : compare_magnitudes(a, b);
}

double parse_nearest(Decimal128 value) {
  bson_decimal128_t decimal;
  decimal.high = value.high;
  decimal.low = value.low;
  char text[BSON_DECIMAL128_STRING];
  bson_decimal128_to_string(&decimal, text);
  return strtod(text, nullptr);
}

struct Floor {
  double value;
  bool exact;
};

Floor floor_of(int64_t value) {
  const auto nearest = static_cast<double>(value);
  const Signed128 rounded = static_cast<Signed128>(nearest);
  if (rounded == value) return {nearest, true};
  return {rounded > value ? std::nextafter(nearest, -kInfinity) : nearest, false};
}

Floor floor_of(Decimal128 value) {
  const Decimal decimal = decode(value);
  if (decimal.kind == Decimal::Kind::kNan) return {std::numeric_limits<double>::quiet_NaN(), true};
  if (decimal.kind == Decimal::Kind::kInfinite) {
    return {decimal.negative ? -kInfinity : kInfinity, true};
  }
  if (decimal.coefficient == 0) return {0.0, true};
  const double nearest = parse_nearest(value);
  if (std::isinf(nearest)) {
    return {nearest > 0 ? std::numeric_limits<double>::max() : nearest, false};
  }
  const std::strong_ordering order = compare_exactly(decimal, nearest);
  if (order == 0) return {nearest + 0.0, true};
  return {order < 0 ? std::nextafter(nearest, -kInfinity) + 0.0 : nearest + 0.0, false};
}

Floor floor_of(ValueView number) {
  switch (number.type()) {
    case Type::kInt32:
      return {static_cast<double>(number.as_int32()), true};
    case Type::kInt64:
      return floor_of(number.as_int64());
    case Type::kDecimal128:
      return floor_of(number.as_decimal128());
    default:
      return {number.as_double() + 0.0, true};  // -0.0 + 0.0 is 0.0
  }
}

std::weak_ordering compare_doubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(b) <=> std::isnan(a);
  return a < b   ? std::weak_ordering::less
         : a > b ? std::weak_ordering::greater
                 : std::weak_ordering::equivalent;
}

}  // namespace

double floor_to_double(ValueView number) {
  return floor_of(number).value;
}

bool is_exact_double(ValueView number) {
  return floor_of(number).exact;
}

std::array<uint8_t, kDecimalSortBytes> decimal_sort_bytes(ValueView number) {
  Decimal decimal;
  switch (number.type()) {
    case Type::kInt64:
      decimal = from_int64(number.as_int64());
      break;
    case Type::kDecimal128:
      decimal = decode(number.as_decimal128());
      break;
    default:
      assert(false && "an int32 or a double is always a double");
  }
  // The bytes have the sign, the decimal point, and the digits from left to right. Each of the
  // three grows with the magnitude.
  const Magnitude magnitude = magnitude_of(decimal);
  Unsigned128 digits = 0;
  for (int i = 0; i < kDigitsMax; ++i) {
    const auto at = static_cast<size_t>(i);
    digits =
        digits * 10 +
        (at < magnitude.digits.size() ? static_cast<unsigned>(magnitude.digits[at] - '0') : 0U);
  }
  const auto point = static_cast<uint16_t>(magnitude.point + 0x4000);
  std::array<uint8_t, kDecimalSortBytes> bytes;
  bytes[0] = 1;
  bytes[1] = static_cast<uint8_t>(point >> 8);
  bytes[2] = static_cast<uint8_t>(point);
  for (int i = 0; i < 16; ++i) {
    bytes[size_t{3} + static_cast<size_t>(i)] = static_cast<uint8_t>(digits >> (120 - 8 * i));
  }
  if (decimal.negative) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(~byte);
  }
  return bytes;
}

std::weak_ordering compare_numbers(ValueView a, ValueView b) {
  if (a.type() == Type::kInt32 && b.type() == Type::kInt32) return a.as_int32() <=> b.as_int32();
  if (a.type() == Type::kInt64 && b.type() == Type::kInt64) return a.as_int64() <=> b.as_int64();
  const Floor floor_a = floor_of(a);
  const Floor floor_b = floor_of(b);
  const std::weak_ordering order = compare_doubles(floor_a.value, floor_b.value);
  if (order != 0) return order;
  if (floor_a.exact || floor_b.exact) return floor_b.exact <=> floor_a.exact;
  return decimal_sort_bytes(a) <=> decimal_sort_bytes(b);
}

std::optional<int64_t> to_int64(Decimal128 value) {
  const Decimal decimal = decode(value);
  if (decimal.kind != Decimal::Kind::kFinite) return std::nullopt;
  const Magnitude magnitude = magnitude_of(decimal);
  const auto digits = static_cast<int>(magnitude.digits.size());
  if (digits == 0) return 0;
  if (magnitude.point < digits || magnitude.point > kInt64DigitsMax) return std::nullopt;
  const Unsigned128 integer = integer_part(magnitude);
  const Unsigned128 limit = (Unsigned128{1} << 63) - (decimal.negative ? 0U : 1U);
  if (integer > limit) return std::nullopt;
  const auto bits = static_cast<uint64_t>(integer);
  return static_cast<int64_t>(decimal.negative ? ~bits + 1 : bits);
}

double to_nearest_double(Decimal128 decimal) {
  return parse_nearest(decimal);
}

std::optional<int64_t> clamped_integer(ValueView value) {
  if (const std::optional<int64_t> exact = value.integral()) return exact;
  if (!value.is_number()) return std::nullopt;
  if (value.type() == Type::kDecimal128) return nearest_int64(decode(value.as_decimal128()));
  const double number = std::trunc(value.as_double());
  if (std::isnan(number)) return 0;
  if (number >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (number < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(number);
}

}  // namespace gridmount::bson
