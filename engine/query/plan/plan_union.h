// Makes the plan for an $or. Internal to engine/query.
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

// Returns a union that has a plan with index scans for each branch of the $or. Returns nullopt if
// no index can be used for one of the branches. For more than 10,000 branches, returns the plan of
// one $in instead if an index can be used for it. For this, all branches must be equalities on one
// path, without a collation, and no operand may be a document of operators, which $in would refuse.
// Otherwise returns nullopt for so many branches. `multikey` says for each of the indexes whether
// it is multikey. `collator` must be the query's collator. Fails as check_interruption() does.
Result<std::optional<Plan>> plan_union(const Filter& disjunction,
                                       const std::vector<IndexDefinition>& indexes,
                                       const std::vector<bool>& multikey, const Collator* collator);

}  // namespace gridmount::query
