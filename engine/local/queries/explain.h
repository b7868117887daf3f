// How a find or a count is, or was, answered. Source: MongoDB manual, "Explain Results"; the stages
// are in explained_stages.h.
#pragma once

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/local/queries/match_stream.h"
#include "engine/local/queries/planner.h"
#include "engine/store.h"

namespace gridmount::local {

struct ExplainedQuery {
  engine::Namespace ns;
  bson::View filter;
  const engine::FindOptions& options;
  const CollectionEntry* entry = nullptr;  // null: the collection does not exist
  const ChosenPlan* plan = nullptr;        // null with it, and for a count that the catalog knows
  bool counts = false;                     // documents are not given
  bool by_id = false;                      // MatchStream's
  bool sorts = false;                      // in a buffer
  bool distinct = false;                   // MatchStream's
  bool covered = false;                    // by index entries: no documents are read
  bool filters_entries = false;            // of the index, before documents are read
};

struct Execution {
  MatchFigures figures;
  int64_t milliseconds = 0;
};

// `execution` null: only the plan.
bson::Document explanation(const ExplainedQuery& query, const Execution* execution);

}  // namespace gridmount::local
