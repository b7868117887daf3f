// Sums and products of numbers of which at least one is a Decimal128. Internal to this folder.
//
// IEEE 754-2008 decimal128, rounded to the nearest, ties to even: beyond the range the result is
// infinite, and NaN where the standard says so; it is never an error.
// Thread-safety: pure functions.
#pragma once

#include "engine/bson/value.h"

namespace gridmount::query {

// Both take values with is_number(). A double counts with its first 15 significant digits, which is
// what servers keep of it (0.1 is 0.100000000000000 and not 0.10000000000000000555...).
bson::Value add_decimals(bson::ValueView a, bson::ValueView b);
bson::Value multiply_decimals(bson::ValueView a, bson::ValueView b);

}  // namespace gridmount::query
