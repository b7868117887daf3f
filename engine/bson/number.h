// Compares and orders BSON's numbers exactly across their four types.
//
// Numbers are ordered by their floor: the greatest double that is not greater than the number.
// Numbers with the same floor are ordered by their decimal digits. Comparisons (compare.h) and
// index keys (key_string.h) both use these functions, so their orders are the same.
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

// Returns the greatest double that is not greater than the number. Returns NaN for NaN, and the
// infinity of the same sign for an infinite double or Decimal128. Never returns -0.0.
double floor_to_double(ValueView number);

// Returns whether the number is equal to its floor_to_double().
bool is_exact_double(ValueView number);

// If two numbers have the same floor_to_double(), memcmp() of their bytes gives the same order as a
// comparison of the numbers. Equal numbers have equal bytes, whatever their type. `number` must be
// an int64 or a finite Decimal128.
inline constexpr size_t kDecimalSortBytes = 19;
std::array<uint8_t, kDecimalSortBytes> decimal_sort_bytes(ValueView number);

// Compares two numbers. NaN is equal to itself and less than every other number, and 0.0 equals
// -0.0.
std::weak_ordering compare_numbers(ValueView a, ValueView b);

// Returns the decimal as an int64, or nothing if it is not an integer or is out of range.
std::optional<int64_t> to_int64(Decimal128 decimal);

// Reads a number of any type as servers read integers in commands and options (safeNumberLong):
// cuts off the fraction of a double, rounds a decimal to the nearest integer, or to the even one if
// two are equally near, and returns 0 for NaN and the nearest int64 for a number out of range.
// Returns nothing if the value is not a number.
std::optional<int64_t> clamped_integer(ValueView value);

// Returns the nearest double. If two doubles are equally near, returns the double whose last bit is
// 0. Returns an infinity if the decimal is beyond the range of double.
double to_nearest_double(Decimal128 decimal);

}  // namespace gridmount::bson
