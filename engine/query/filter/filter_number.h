// Whole numbers as operands: {$size: 3}, {$bitsAllSet: 5}, {minLength: 1}. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// Of any number type. FailedToParse, in the server's words, for what is none, not whole or out of
// range.
Result<int64_t> integer(std::string_view name, bson::ValueView value);
Result<int64_t> non_negative_integer(std::string_view name, bson::ValueView value);

// Whether the quotient of two numbers is whole. As decimals, of doubles with 15 digits, so that 0.3
// is a multiple of 0.1.
bool is_multiple(bson::ValueView number, bson::ValueView divisor);

// `$size: "x"`, as messages show an element; cut if it is long.
std::string show_operand(std::string_view name, bson::ValueView value);

}  // namespace gridmount::query
