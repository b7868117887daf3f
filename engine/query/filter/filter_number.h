// Integers as operands: {$size: 3}, {$bitsAllSet: 5}, {minLength: 1}. Internal to engine/query.
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// Returns a number of any type as an integer. Fails with FailedToParse and the server's message if
// the value is not a number, not integral or out of range.
Result<int64_t> integer(std::string_view name, bson::ValueView value);
Result<int64_t> non_negative_integer(std::string_view name, bson::ValueView value);

// Returns whether the quotient of two numbers is integral. The numbers are compared as decimals,
// and a double counts with 15 digits, so that 0.3 is a multiple of 0.1.
bool is_multiple(bson::ValueView number, bson::ValueView divisor);

// Returns `$size: "x"`, as messages show an element. A long value is cut off.
std::string show_operand(std::string_view name, bson::ValueView value);

}  // namespace gridmount::query
