// Reads integers that are operands, as in {$size: 3}, {$bitsAllSet: 5} and {minLength: 1}. Internal
// to engine/query. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// Returns a number of any type as an integer. Fails with FailedToParse and the server's message if
// the value is not a number, is not integral or is out of range.
Result<int64_t> integer(std::string_view name, bson::ValueView value);
Result<int64_t> non_negative_integer(std::string_view name, bson::ValueView value);

// Returns whether the quotient of two numbers is integral. It is computed with decimals, and of a
// double only 15 digits are used, so that 0.3 is a multiple of 0.1.
bool is_multiple(bson::ValueView number, bson::ValueView divisor);

// Returns an element's text for messages, such as `$size: "x"`. A long value is truncated.
std::string show_operand(std::string_view name, bson::ValueView value);

}  // namespace gridmount::query
