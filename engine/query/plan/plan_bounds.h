// The intervals of an index part's values that a condition lets through. Internal to this folder.
#pragma once

#include <optional>
#include <vector>

#include "engine/query/filter/filter.h"
#include "engine/query/plan/plan.h"

namespace gridmount::query {

struct PartBounds {
  std::vector<Interval> intervals;  // sorted, disjoint
  // No document has a value inside without matching the condition, as long as there are no arrays.
  bool exact = false;
};

// Nothing if the condition says nothing about values (or nothing that is worth a search).
std::optional<PartBounds> bounds_of(const Predicate& predicate);

// Of {$exists: false}.
PartBounds bounds_of_absence();

// What both let through.
PartBounds intersect(const PartBounds& a, const PartBounds& b);

Interval all_values();

}  // namespace gridmount::query
