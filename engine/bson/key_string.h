// Key strings: an order-preserving encoding of values, like MongoDB's KeyString. memcmp on two key
// strings has the result of bson::compare on their values. They are part of a store's format
// (engine/local/FORMAT.md, chapter "Index keys", describes the bytes). In memory they identify
// values that are grouped or looked up.
//
// Invariants:
// K1. No key string is a proper prefix of another one. So the key strings of several values can be
//     concatenated and still compare part by part.
// K2. Values that compare equal have the same key string, whatever their types: for example 5 as an
//     int32, a double and a Decimal128.
// K3. The first byte of a key string is never 0x00 or 0xFF, in either direction. So appending 0xFF
//     to the key strings of leading parts gives a bound above every key that begins with them.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/value.h"

namespace gridmount::bson {

// `descending` reverses the order.
void append_key_string(std::string& out, ValueView value, bool descending = false);

// Returns the size of the key string at the beginning of `encoded`, or nothing if the bytes end
// inside it or are not a key string.
std::optional<size_t> key_string_size(std::string_view encoded, bool descending = false);

}  // namespace gridmount::bson
