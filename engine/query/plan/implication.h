// Whether every document a filter matches also matches a condition: what a partial index asks.
// Internal to this folder.
// Source: MongoDB manual, "Partial Indexes", "Query Coverage".
#pragma once

#include "engine/query/filter/filter.h"

namespace gridmount::query {

// May say no where it is so, never yes where it is not. Kinds of conditions it can tell: equality,
// comparison, $in, $exists: true, $type, and $and and $or of them.
bool implies(const Filter& filter, const Filter& condition);

}  // namespace gridmount::query
