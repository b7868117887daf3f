// Bytes that stand for a value where values are grouped or looked up: two values have the same
// bytes exactly if bson::compare() finds them equal, so that 1, 1.0 and NumberLong(1) are one
// group. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/bson/value.h"

namespace gridmount::query {

// Self-delimiting: keys put behind each other stand for the sequence of values.
void append_value_key(std::string& key, bson::ValueView value);

uint64_t hash_of_key(std::string_view key);

}  // namespace gridmount::query
