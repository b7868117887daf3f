// Compares and orders BSON's numbers exactly across their four types.
//
// A number is ordered by the greatest double that is not greater than it. Numbers that share this
// double are ordered by their decimal digits. Both comparison (compare.h) and index keys
// (key_string.h) use these functions, so they cannot disagree.
//
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>

#include "engine/bson/value.h"

namespace gridmount::bson {

// Functions with a ValueView require is_number(), unless their comment says otherwise.

// Returns the greatest double that is not greater than the number. NaN of either type gives NaN,
// and infinities stay. Zero is never negative.
double floor_to_double(ValueView number);

// Returns whether the number is equal to that double.
bool is_exact_double(ValueView number);

// For a number that is not a double. Returns bytes that memcmp orders like the numbers with the
// same floor_to_double(). Equal numbers have equal bytes, whatever their type.
inline constexpr size_t kDecimalSortBytes = 19;
std::array<uint8_t, kDecimalSortBytes> decimal_sort_bytes(ValueView number);

// NaN is equal to itself and less than every other number; 0.0 equals -0.0.
std::weak_ordering compare_numbers(ValueView a, ValueView b);

// Returns the decimal as an integer if it is one and in range.
std::optional<int64_t> to_int64(Decimal128 decimal);

// Reads a number of any type as servers read integers in commands and options (safeNumberLong): the
// fraction of a double is cut off, a decimal is rounded half to even, NaN is 0, and a value out of
// range becomes the nearest one in range. Returns nothing if the value is not a number.
std::optional<int64_t> clamped_integer(ValueView value);

// Rounds half to even. Beyond the range of double the result is infinite.
double to_nearest_double(Decimal128 decimal);

}  // namespace gridmount::bson
