// Shows the stages of a plan, each with its inputs and its stats.
// Source: MongoDB manual, "Explain Results": stages COLLSCAN, IXSCAN, FETCH, IDHACK, OR, SORT,
// SKIP, LIMIT, PROJECTION_SIMPLE, PROJECTION_DEFAULT, PROJECTION_COVERED, COUNT, COUNT_SCAN,
// DISTINCT_SCAN, RECORD_STORE_FAST_COUNT and EOF.
//
// Thread-safety: a pure function.
#pragma once

#include "engine/bson/builder.h"
#include "engine/local/queries/explain.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

// Appends the stages to the open document. `plan` is null if the collection does not exist, or if
// the catalog already has the count. `execution` is null if only the plan is wanted.
void append_stages(bson::Builder& out, const ExplainedQuery& query, const query::Plan* plan,
                   const Execution* execution);

}  // namespace gridmount::local
