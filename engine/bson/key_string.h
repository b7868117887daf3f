// Key strings: an order-preserving encoding of values, like MongoDB's KeyString. memcmp on two
// ascending key strings has the sign of bson::compare() on their values, with the same StringOrder.
// Key strings are part of a store's format: engine/local/FORMAT.md, chapter "Index keys", describes
// their bytes. In memory, key strings identify the values by which documents are grouped or looked
// up.
//
// Invariants:
// K1. No key string is a proper prefix of another one. So the key strings of several values can be
//     concatenated, and memcmp then compares them value by value.
// K2. Values that compare equal have the same key string, whatever their types: for example 5 as an
//     int32, a double and a Decimal128.
// K3. The first byte of a key string is never 0x00 or 0xFF, ascending or descending. So the key
//     strings of an index's first fields, followed by 0xFF, are greater than every key that begins
//     with these key strings.
//
// Thread-safety: functions without state.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/string_order.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// Appends the key string of the value. `descending` reverses the order of key strings. With
// `strings`, the key string has the sort key of each string or symbol instead of its bytes, so K2
// holds for bson::compare() with this order. Key strings of different orders must not be compared.
void append_key_string(std::string& out, ValueView value, bool descending = false,
                       const StringOrder* strings = nullptr);

// Returns the size of the key string with which `encoded` begins. Returns nothing if `encoded` ends
// within the key string or does not begin with one.
std::optional<size_t> key_string_size(std::string_view encoded, bool descending = false);

}  // namespace gridmount::bson
