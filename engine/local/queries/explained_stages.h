// Shows the stages of a plan in the reply of explain. The document of a stage has the documents of
// its input stages, and its stats.
//
// Source: MongoDB manual, "Explain Results". The stages are COLLSCAN, IXSCAN, FETCH, IDHACK, OR,
// SORT, SKIP, LIMIT, PROJECTION_SIMPLE, PROJECTION_DEFAULT, PROJECTION_COVERED, COUNT, COUNT_SCAN,
// DISTINCT_SCAN, TEXT_MATCH, TEXT_OR, RECORD_STORE_FAST_COUNT and EOF.
//
// Thread-safe: a function without state.
#pragma once

#include "engine/bson/builder.h"
#include "engine/local/queries/explain.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

// Appends the fields of the outermost stage, with all other stages in it, to the document that
// `out` has open. `plan` must be null if the collection does not exist, or if the query is a count
// that the catalog answers. If `execution` is null, appends no stats.
void append_stages(bson::Builder& out, const ExplainedQuery& query, const query::Plan* plan,
                   const Execution* execution);

}  // namespace gridmount::local
