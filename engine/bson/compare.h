// MongoDB's comparison order over all BSON types: MinKey, Null and Undefined, numbers by value
// whatever their type, Symbol and String, Object, Array, BinData, ObjectId, Boolean, Date,
// Timestamp, Regular Expression, DBPointer, Code, CodeWithScope, MaxKey.
// Source: MongoDB manual, "Comparison/Sort Order".
#pragma once

#include <compare>

#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// The type's place in the order above; types that compare with each other share one.
int canonical_order(Type type);

// Total order. NaN is equal to itself and less than every other number; 0.0 equals -0.0. Strings
// compare as bytes. Int64, double and Decimal128 compare exactly, without rounding.
std::weak_ordering compare(ValueView a, ValueView b);

// Field by field: type order, then name, then value; a prefix sorts first.
std::weak_ordering compare(View a, View b);

}  // namespace gridmount::bson
