// Decides whether every document that matches a filter also matches a condition. A partial index
// needs this. Internal to engine/query.
//
// Source: MongoDB manual, "Partial Indexes", "Query Coverage". Thread-safety: a pure function.
#pragma once

#include "engine/query/filter/filter.h"

namespace gridmount::query {

// Returns true only if `filter` implies `condition`. May return false even if it does imply it. The
// kinds of condition that can be decided are equality, comparisons, $in, {$exists: true}, $type,
// and $and and $or of these.
bool implies(const Filter& filter, const Filter& condition);

}  // namespace gridmount::query
