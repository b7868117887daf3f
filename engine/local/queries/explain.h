// Explains how a find or a count is, or was, answered. Source: MongoDB manual, "Explain Results";
// the stages are in explained_stages.h.
//
// Thread-safety: pure functions.
#pragma once

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/local/queries/plan_executor.h"
#include "engine/local/queries/plan_selection.h"
#include "engine/store.h"

namespace gridmount::local {

struct ExplainedQuery {
  engine::Namespace ns;
  bson::View filter;
  const engine::FindOptions& options;
  const CollectionMetadata* metadata = nullptr;  // null: the collection does not exist
  // Null if `metadata` is null, or if the catalog has the count.
  const ChosenPlan* plan = nullptr;
  bool counts = false;           // only counts, returns no documents
  bool by_id = false;            // PlanExecutor::by_id()
  bool sorts = false;            // sorts the results in a buffer
  bool distinct = false;         // PlanExecutor::distinct()
  bool covered = false;          // index entries answer the query; no documents are read
  bool filters_entries = false;  // matches index entries before it reads documents
};

struct Execution {
  ExecutionStats stats;
  int64_t milliseconds = 0;
};

// Returns the explanation. If `execution` is null, it has the plan alone.
bson::Document explanation(const ExplainedQuery& query, const Execution* execution);

}  // namespace gridmount::local
