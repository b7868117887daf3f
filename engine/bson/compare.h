// MongoDB's comparison order of values. The order of the types, from the lowest to the highest:
// MinKey, Undefined, Null, numbers (by value, whatever their type), Symbol and String, Object,
// Array, BinData, ObjectId, Boolean, Date, Timestamp, Regular Expression, DBPointer, Code,
// CodeWithScope, MaxKey.
// Source: MongoDB manual, "Comparison/Sort Order".
//
// Thread-safety: pure functions.
#pragma once

#include <compare>

#include "engine/bson/document.h"
#include "engine/bson/string_order.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// Returns the type's rank in this order. Types whose values are compared with each other have the
// same rank.
int canonical_order(Type type);

// Compares two values. The order is total: NaN equals itself and is less than every other number.
// 0.0 equals -0.0. Numbers of different types are compared exactly, without rounding. Strings and
// symbols, also those inside documents and arrays, are compared by `strings`, or as bytes if it is
// null. The names of fields and all other text are always compared as bytes.
std::weak_ordering compare(ValueView a, ValueView b, const StringOrder* strings = nullptr);

// Compares two documents field by field. For each pair of fields, compares first the ranks of the
// types, then the names, then the values. If all pairs are equal, the document with fewer fields is
// less.
std::weak_ordering compare(View a, View b, const StringOrder* strings = nullptr);

}  // namespace gridmount::bson
