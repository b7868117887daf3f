// Arithmetic on Decimal128 numbers, and on other numbers together with a Decimal128. Internal to
// engine/query.
//
// The arithmetic follows IEEE 754-2008 for decimal128, and rounds to the nearest number, half to
// even. It never fails: a result beyond the range is infinite, and an undefined result is NaN.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/value.h"

namespace gridmount::query {

// Add or multiply two numbers of any type. Both functions round a double to 15 significant digits,
// as MongoDB servers do: 0.1 is 0.100000000000000 and not 0.10000000000000000555...
bson::Value add_decimals(bson::ValueView a, bson::ValueView b);
bson::Value multiply_decimals(bson::ValueView a, bson::ValueView b);

// Converts a number of any type. Rounds a double to 15 significant digits, as the functions above
// do.
bson::Decimal128 to_decimal(bson::ValueView number);
bson::Value value_of(bson::Decimal128 decimal);
// Converts the double, with 34 significant digits.
bson::Decimal128 to_precise_decimal(double value);

bson::Decimal128 add(bson::Decimal128 a, bson::Decimal128 b);
bson::Decimal128 subtract(bson::Decimal128 a, bson::Decimal128 b);
bson::Decimal128 multiply(bson::Decimal128 a, bson::Decimal128 b);
bson::Decimal128 divide(bson::Decimal128 a, bson::Decimal128 b);
// The result has the sign of `a`.
bson::Decimal128 modulo(bson::Decimal128 a, bson::Decimal128 b);

bson::Decimal128 absolute(bson::Decimal128 value);
bson::Decimal128 square_root(bson::Decimal128 value);
bson::Decimal128 exponential(bson::Decimal128 value);
bson::Decimal128 natural_logarithm(bson::Decimal128 value);
bson::Decimal128 logarithm(bson::Decimal128 value, bson::Decimal128 base);
bson::Decimal128 power(bson::Decimal128 base, bson::Decimal128 exponent);

// Angles are in radians.
enum class DecimalFunction {
  kSine,
  kCosine,
  kTangent,
  kArcSine,
  kArcCosine,
  kArcTangent,
  kHyperbolicSine,
  kHyperbolicCosine,
  kHyperbolicTangent,
  kHyperbolicArcSine,
  kHyperbolicArcCosine,
  kHyperbolicArcTangent
};
bson::Decimal128 calculate(DecimalFunction function, bson::Decimal128 value);
// Returns the angle of the point (x, y), in radians.
bson::Decimal128 arc_tangent(bson::Decimal128 y, bson::Decimal128 x);

enum class DecimalRounding { kNearestEven, kDown, kUp, kTowardsZero };
// Rounds to `places` digits after the decimal point. If `places` is negative, that many digits
// before the point become zeros. `places` must be from -6111 to 6176. If the result would need more
// than 34 digits, returns the value itself, with as many places as it can have.
bson::Decimal128 round_to_places(bson::Decimal128 value, int places, DecimalRounding rounding);

bool is_zero(bson::Decimal128 value);
// Returns true also for -0.
bool is_negative(bson::Decimal128 value);
bool is_nan(bson::Decimal128 value);
bool is_infinite(bson::Decimal128 value);

// Convert to an integer: cut_decimal_to_int64() drops the fraction, and round_decimal_to_int64()
// rounds to the nearest integer, half to even. They return nullopt for NaN, and for a number beyond
// the range of int64.
std::optional<int64_t> cut_decimal_to_int64(bson::Decimal128 value);
std::optional<int64_t> round_decimal_to_int64(bson::Decimal128 value);

// Returns a text such as "1.50", "1E+40", "NaN" or "-Infinity", in the notation of the BSON
// Decimal128 specification.
std::string decimal_to_text(bson::Decimal128 value);
// Parses a text in this notation, in upper or lower case, or "inf" for infinity. Rounds a number of
// more than 34 digits. Returns nullopt for any other text, and for a number out of range.
std::optional<bson::Decimal128> decimal_from_text(std::string_view text);

}  // namespace gridmount::query
