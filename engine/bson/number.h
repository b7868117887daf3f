// BSON's numbers compared and ordered across their four types, exactly.
//
// A number is placed by the greatest double that is not above it; those that share one are told
// apart by their decimal digits. Comparing (compare.h) and index keys (engine/local) both rest on
// this, so they cannot disagree.
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>

#include "engine/bson/value.h"

namespace gridmount::bson {

// Those of a value take one with is_number(), where nothing else is said.

// The greatest double that is not above the number; NaN of either type is NaN, the infinities are
// themselves, zero is never negative.
double floor_to_double(ValueView number);

// Whether the number is that double.
bool is_exact_double(ValueView number);

// For numbers that are no doubles: bytes whose order, as memcmp has it, is the numbers' order among
// those with the same floor. Equal numbers have equal bytes whatever their type.
inline constexpr size_t kDecimalSortBytes = 19;
std::array<uint8_t, kDecimalSortBytes> decimal_sort_bytes(ValueView number);

// NaN is equal to itself and less than every other number; 0.0 equals -0.0.
std::weak_ordering compare_numbers(ValueView a, ValueView b);

// The integer the decimal is, if it is one and in range.
std::optional<int64_t> to_int64(Decimal128 decimal);

// A number of any type as servers read it into 64 bits where commands and options have integers
// (safeNumberLong): a double's fraction cut off, a decimal rounded half to even, NaN 0, what is out
// of range the nearest that is in it. Nothing for what is no number.
std::optional<int64_t> clamped_integer(ValueView value);

// Rounded half to even; infinite beyond the range of double.
double to_nearest_double(Decimal128 decimal);

}  // namespace gridmount::bson
