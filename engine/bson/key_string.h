// Key strings: an order-preserving encoding of values, as MongoDB's KeyString is one. memcmp on two
// of them gives bson::compare on the values. They are part of the format of a store, whose document
// (engine/local/FORMAT.md, chapter "Index keys") describes the bytes; and they stand for values
// that are grouped or looked up.
//
// Invariants:
//  K1. No key string of a value is a proper prefix of another's, so those of several values can be
//      put behind each other and still compare part by part.
//  K2. Values that compare equal have the same one, whatever their types: int32, double and
//      Decimal128 of 5.
//  K3. Its first byte is never 0x00 nor 0xFF, in either direction, so appending 0xFF to those of
//      leading parts gives a bound above every key that begins with them.
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

// The number of bytes of the key string that `encoded` begins with; nothing if the bytes end inside
// it or are none.
std::optional<size_t> key_string_size(std::string_view encoded, bool descending = false);

}  // namespace gridmount::bson
