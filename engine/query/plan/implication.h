// Decides whether every document that matches a filter also matches a condition. A partial index
// needs this. Internal to engine/query.
//
// Source: MongoDB manual, "Partial Indexes", "Query Coverage". Thread-safety: a pure function.
#pragma once

#include "engine/query/filter/filter.h"
#include "engine/query/plan/plan_bounds.h"

namespace gridmount::query {

// Returns true only if `filter` implies `condition`. If implies() returns false, `filter` may imply
// `condition` nevertheless. The function can decide conditions that are equalities, comparisons,
// $in, {$exists: true} and $type, and $and and $or of these. `condition` compares strings by the
// collation of the index. If that is not the one of the query, comparisons with strings imply
// nothing.
bool implies(const Filter& filter, const Filter& condition, const StringsOfIndex& strings);

}  // namespace gridmount::query
