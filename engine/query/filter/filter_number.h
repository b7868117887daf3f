// Reads integers that are operands, as in {$size: 3}, {$bitsAllSet: 5} and {minLength: 1}. Internal
// to engine/query. Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// Return a number of any type as an integer. `name` is the name of the field, for the message. Both
// functions fail with FailedToParse and the server's message if the value is not a number, is not
// integral or is out of range. non_negative_integer() also fails with FailedToParse for a negative
// number.
Result<int64_t> integer(std::string_view name, bson::ValueView value);
Result<int64_t> non_negative_integer(std::string_view name, bson::ValueView value);

// Returns whether `number` is a multiple of `divisor`. Fractions are divided as decimals, with the
// first 15 significant digits of a double, so that 0.3 is a multiple of 0.1.
bool is_multiple(bson::ValueView number, bson::ValueView divisor);

// Returns an element's text for messages, such as `$size: "x"`. A long value is truncated.
std::string show_operand(std::string_view name, bson::ValueView value);

}  // namespace gridmount::query
