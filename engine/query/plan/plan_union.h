// Plans for conditions of which one must hold ($or). Internal to this folder.
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

// An index for each branch of the $or, or nothing: if one has none, or there are too many of them.
Result<std::optional<Plan>> plan_union(const Filter& disjunction,
                                       const std::vector<IndexDefinition>& indexes,
                                       const std::vector<bool>& multikey);

}  // namespace gridmount::query
