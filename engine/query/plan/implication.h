// Decides whether a filter implies a condition: every document that matches the filter also matches
// the condition. The planner uses a partial index only for such a filter. Internal to engine/query.
//
// Source: MongoDB manual, "Partial Indexes", "Query Coverage". Thread-safety: a pure function.
#pragma once

#include "engine/query/filter/filter.h"
#include "engine/query/plan/plan_bounds.h"

namespace gridmount::query {

// Returns true only if `filter` implies `condition`. If implies() returns false, `filter` may imply
// `condition` nevertheless. The function can decide conditions that are equalities, comparisons,
// $in, {$exists: true} and $type, and $and and $or of these. `condition` compares strings by the
// collation of the index. If the query has another collation, comparisons with strings imply only
// {$exists: true}.
bool implies(const Filter& filter, const Filter& condition, const StringsOfIndex& strings);

}  // namespace gridmount::query
