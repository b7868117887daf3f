// Builds the document that explains how a find or a count is executed, or was executed.
// explained_stages.h has the stages. Source: MongoDB manual, "Explain Results".
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
  // Null if `metadata` is null, or if the query is a count that the catalog answers.
  const ChosenPlan* plan = nullptr;
  query::SharedCollator collator = nullptr;
  bool counts = false;           // the query only counts, and returns no documents
  bool by_id = false;            // PlanExecutor::by_id()
  bool sorts = false;            // the executor sorts the results in a buffer
  bool distinct = false;         // PlanExecutor::distinct()
  bool covered = false;          // index entries answer the query; no documents are read
  bool filters_entries = false;  // the executor matches index entries before it reads documents
  bool text_score = false;       // the scan adds up text scores
};

struct Execution {
  ExecutionStats stats;
  int64_t milliseconds = 0;
};

// Returns the explanation. If `execution` is null, the explanation has only the plan, without the
// stats of an execution.
bson::Document explanation(const ExplainedQuery& query, const Execution* execution);

}  // namespace gridmount::local
