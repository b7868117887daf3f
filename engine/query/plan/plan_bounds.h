// The intervals of an index part's values that a condition allows. Internal to engine/query.
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "engine/query/filter/filter.h"
#include "engine/query/plan/plan.h"

namespace gridmount::query {

struct PartBounds {
  std::vector<Interval> intervals;  // sorted, disjoint
  // Every document with a value in the intervals matches the condition, as long as it has no
  // arrays.
  bool exact = false;
};

// Returns nullopt if the condition does not limit the values, or not enough to be worth a search.
std::optional<PartBounds> bounds_of(const Predicate& predicate);

// Returns the bounds of {$exists: false}.
PartBounds bounds_of_absence();

// Returns the values that both bounds allow.
PartBounds intersect(const PartBounds& a, const PartBounds& b);

Interval all_values();

}  // namespace gridmount::query
