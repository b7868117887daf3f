// Plans for an $or, where one of several conditions must hold. Internal to engine/query.
//
// Thread-safety: a function without state.
#pragma once

#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/index_definition.h"
#include "engine/query/plan/plan.h"

namespace gridmount::query {

// Returns a union with an index scan for each branch of the $or. Returns nullopt if some branch has
// no usable index, or if there are too many branches.
Result<std::optional<Plan>> plan_union(const Filter& disjunction,
                                       const std::vector<IndexDefinition>& indexes,
                                       const std::vector<bool>& multikey);

}  // namespace gridmount::query
