// How a find is, or was, answered. Source: MongoDB manual, "Explain Results": stages COLLSCAN,
// IXSCAN, FETCH, OR, SORT, SKIP, LIMIT, PROJECTION_DEFAULT, PROJECTION_COVERED and EOF.
#pragma once

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/local/queries/planner.h"
#include "engine/store.h"

namespace gridmount::local {

struct ExplainedQuery {
  engine::Namespace ns;
  bson::View filter;
  const engine::FindOptions& options;
  const CollectionEntry* entry = nullptr;  // null: the collection does not exist
  const ChosenPlan* plan = nullptr;        // null with it
  bool sorts = false;                      // in a buffer
  bool covered = false;                    // by the index alone
  bool filters_entries = false;            // of the index, before documents are read
};

struct Execution {
  int64_t returned = 0;
  int64_t milliseconds = 0;
  int64_t keys_examined = 0;
  int64_t documents_examined = 0;
};

// `execution` null: only the plan.
bson::Document explanation(const ExplainedQuery& query, const Execution* execution);

}  // namespace gridmount::local
