// Computes which values a condition allows in one part of an index, as intervals. Internal to
// engine/query. Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "engine/query/collation/collator.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/plan.h"

namespace gridmount::query {

struct PartBounds {
  std::vector<Interval> intervals;  // in ascending order, without overlaps
  // True if every document with a value in the intervals, and without arrays, matches the
  // condition.
  bool exact = false;
};

// How strings are compared by a query and in an index.
struct StringsOfIndex {
  // True if the index has the query's collation. If false, bounds with strings do not fit the
  // index.
  bool match = true;
  // The collation of the query and of the index, if both have the same. Null if both compare
  // strings as bytes, or if `match` is false.
  const Collator* order = nullptr;
  // True if the index has strings in the order of their bytes.
  bool of_bytes = true;
};

// Returns the bounds of the condition. Returns nullopt if the condition does not limit the values,
// or limits them too little for a search in an index. Also returns nullopt if StringsOfIndex::match
// is false and compares_strings() is true for the condition, unless the condition is a $text.
std::optional<PartBounds> bounds_of(const Predicate& predicate, const StringsOfIndex& strings);

// Returns whether a value with which the condition compares is a string or may contain strings.
bool compares_strings(const Predicate& predicate);

// Returns the bounds of {$exists: false}.
PartBounds bounds_of_absence();

// Returns the values that both bounds allow. `order` must be the StringsOfIndex::order with which
// bounds_of() made them.
PartBounds intersect(const PartBounds& a, const PartBounds& b, const bson::StringOrder* order);

Interval all_values();

}  // namespace gridmount::query
