// Shows the stages of a plan. Each stage contains its input stages and its stats.
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

// Appends the stages to the document that `out` has open. `plan` must be null if the collection
// does not exist, or if the query is a count that the catalog has. If `execution` is null, appends
// no stats.
void append_stages(bson::Builder& out, const ExplainedQuery& query, const query::Plan* plan,
                   const Execution* execution);

}  // namespace gridmount::local
