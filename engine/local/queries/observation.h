// Records what reads do: the usage of indexes ($indexStats), and the plan and counts for a
// snapshot's observer. Source of the plans' text: MongoDB manual, "Database Profiler Output",
// planSummary.
//
// Thread-safety: that of the ReadView and the observer passed in, which belong to one Snapshot or
// Transaction.
#pragma once

#include <vector>

#include "engine/local/catalog/read_view.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

// Appends to `keyspaces` the keyspace of each index that the plan reads.
void add_keyspaces(const CollectionMetadata& metadata, const query::Plan& plan,
                   std::vector<Keyspace>& keyspaces);

// Records a read of a collection that does not exist.
void record_missing(ReadView& read_view);
// Records that a read by this plan begins. `distinct` is PlanExecutor::distinct().
void record_plan(ReadView& read_view, const CollectionMetadata& metadata, const query::Plan& plan,
                 bool distinct = false);
// Records a read by the index on _id, which servers call IDHACK.
void record_by_id(ReadView& read_view, const CollectionMetadata& metadata);
// Records a lookup without a plan: of one key in one index, and of its document if the key was
// found.
void record_lookup(ReadView& read_view, const CollectionMetadata& metadata,
                   const IndexMetadata& index, bool found);
void record_examined(engine::ReadObserver* observer, int64_t keys, int64_t documents);

}  // namespace gridmount::local
