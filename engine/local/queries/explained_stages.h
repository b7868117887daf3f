// The stages of a plan, each with its inputs, and what each of them did.
// Source: MongoDB manual, "Explain Results": stages COLLSCAN, IXSCAN, FETCH, IDHACK, OR, SORT,
// SKIP, LIMIT, PROJECTION_SIMPLE, PROJECTION_DEFAULT, PROJECTION_COVERED, COUNT, COUNT_SCAN,
// DISTINCT_SCAN, RECORD_STORE_FAST_COUNT and EOF.
#pragma once

#include "engine/bson/builder.h"
#include "engine/local/queries/explain.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

// Into the document that is open. `plan` null: the collection does not exist, or its documents are
// counted already. `execution` null: only the plan.
void append_stages(bson::Builder& out, const ExplainedQuery& query, const query::Plan* plan,
                   const Execution* execution);

}  // namespace gridmount::local
