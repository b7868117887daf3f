// MongoDB's comparison order over all BSON types: MinKey, Null and Undefined, numbers by value
// whatever their type, Symbol and String, Object, Array, BinData, ObjectId, Boolean, Date,
// Timestamp, Regular Expression, DBPointer, Code, CodeWithScope, MaxKey.
// Source: MongoDB manual, "Comparison/Sort Order".
//
// Thread-safety: pure functions.
#pragma once

#include <compare>

#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// Returns the type's rank in this order. Types whose values are compared with each other have the
// same rank.
int canonical_order(Type type);

// Compares two values by a total order. NaN equals itself and is less than every other number. 0.0
// equals -0.0. Strings compare as bytes. Int64, double and Decimal128 compare exactly, without
// rounding.
std::weak_ordering compare(ValueView a, ValueView b);

// Compares field by field: type order, then name, then value. A prefix sorts first.
std::weak_ordering compare(View a, View b);

}  // namespace gridmount::bson
