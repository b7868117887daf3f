// Computes the intervals of values of an index's part that a condition allows. Internal to
// engine/query. Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "engine/query/filter/filter.h"
#include "engine/query/plan/plan.h"

namespace gridmount::query {

struct PartBounds {
  std::vector<Interval> intervals;  // in ascending order, without overlaps
  // True if every document with a value in the intervals, and without arrays, matches the
  // condition.
  bool exact = false;
};

// Returns the bounds of the condition. Returns nullopt if the condition does not limit the values,
// or too little for a search in an index.
std::optional<PartBounds> bounds_of(const Predicate& predicate);

// Returns the bounds of {$exists: false}.
PartBounds bounds_of_absence();

// Returns the values that both bounds allow.
PartBounds intersect(const PartBounds& a, const PartBounds& b);

Interval all_values();

}  // namespace gridmount::query
