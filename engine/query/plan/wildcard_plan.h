// Computes the bounds of a wildcard index for a condition. Internal to engine/query.
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

#include "engine/query/plan/plan.h"
#include "engine/query/plan/plan_bounds.h"
#include "engine/query/plan/wildcard_index_definition.h"

namespace gridmount::query {

struct WildcardBounds {
  std::vector<Interval> paths;
  std::vector<Interval> values;
};

// Returns the bounds of the condition. Returns nullopt if the index lacks the path, or if a
// document can match the condition without a value that the index has. Such a document lacks the
// field, or has a document or an array there.
std::optional<WildcardBounds> wildcard_bounds(const Predicate& predicate,
                                              const WildcardPaths& paths,
                                              const StringsOfIndex& strings);

}  // namespace gridmount::query
