// Arithmetic of numbers of which at least one is a Decimal128. Internal to this folder.
//
// IEEE 754-2008 decimal128, rounded to the nearest, ties to even: beyond the range the result is
// infinite, and NaN where the standard says so; it is never an error.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/value.h"

namespace gridmount::query {

// Both take values with is_number(). A double counts with its first 15 significant digits, which is
// what servers keep of it (0.1 is 0.100000000000000 and not 0.10000000000000000555...).
bson::Value add_decimals(bson::ValueView a, bson::ValueView b);
bson::Value multiply_decimals(bson::ValueView a, bson::ValueView b);

// A number of any type; of a double 15 digits, as above.
bson::Decimal128 to_decimal(bson::ValueView number);
bson::Value value_of(bson::Decimal128 decimal);
// Of a double 34 digits.
bson::Decimal128 to_precise_decimal(double value);

bson::Decimal128 add(bson::Decimal128 a, bson::Decimal128 b);
bson::Decimal128 subtract(bson::Decimal128 a, bson::Decimal128 b);
bson::Decimal128 multiply(bson::Decimal128 a, bson::Decimal128 b);
bson::Decimal128 divide(bson::Decimal128 a, bson::Decimal128 b);
// With the sign of `a`.
bson::Decimal128 modulo(bson::Decimal128 a, bson::Decimal128 b);

bson::Decimal128 absolute(bson::Decimal128 value);
bson::Decimal128 square_root(bson::Decimal128 value);
bson::Decimal128 exponential(bson::Decimal128 value);
bson::Decimal128 natural_logarithm(bson::Decimal128 value);
bson::Decimal128 logarithm(bson::Decimal128 value, bson::Decimal128 base);
bson::Decimal128 power(bson::Decimal128 base, bson::Decimal128 exponent);

// In radians.
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
// The angle of the point (x, y).
bson::Decimal128 arc_tangent(bson::Decimal128 y, bson::Decimal128 x);

enum class DecimalRounding { kNearestEven, kDown, kUp, kTowardsZero };
// With `places` digits behind the point, or zeros before it if negative; NaN if that takes more
// than 34 digits.
bson::Decimal128 round_to_places(bson::Decimal128 value, int places, DecimalRounding rounding);

bool is_zero(bson::Decimal128 value);
bool is_negative(bson::Decimal128 value);  // also of -0
bool is_nan(bson::Decimal128 value);
bool is_infinite(bson::Decimal128 value);

// Nothing if it is NaN or the range is exceeded.
std::optional<int64_t> cut_decimal_to_int64(bson::Decimal128 value);
std::optional<int64_t> round_decimal_to_int64(bson::Decimal128 value);

// "1.50", "1E+40", "NaN", "-Infinity": the notation of the BSON Decimal128 specification.
std::string decimal_to_text(bson::Decimal128 value);
// Of such text, nothing of any other; also nothing if the number is out of range.
std::optional<bson::Decimal128> decimal_from_text(std::string_view text);

}  // namespace gridmount::query
