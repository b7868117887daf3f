// Computes the bounds of a wildcard index for a condition. Internal to engine/query.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "engine/query/plan/plan.h"
#include "engine/query/plan/plan_bounds.h"
#include "engine/query/plan/wildcard_index_definition.h"

namespace gridmount::query {

// The intervals of the two parts of the index: the paths, and the values at these paths.
struct WildcardBounds {
  std::vector<Interval> paths;
  std::vector<Interval> values;
};

// Returns the bounds of the condition in an index that holds `paths`. `strings` says how the index
// and the query compare strings. Returns nullopt if the index cannot answer the condition, in each
// of these cases:
// - The index does not hold the path. For $exists, it must hold all paths below this path, too.
// - The condition can match something for which the index has no value: a missing field, an array
//   as a whole, or a document that is not empty.
// - The condition compares with MinKey or MaxKey, or is a comparison in an $expr.
// - The condition has no bounds (bounds_of() in plan_bounds.h).
std::optional<WildcardBounds> wildcard_bounds(const Predicate& predicate,
                                              const WildcardPaths& paths,
                                              const StringsOfIndex& strings);

}  // namespace gridmount::query
