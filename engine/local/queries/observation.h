// Records reads: counts the uses of indexes ($indexStats), and tells the snapshot's observer the
// plan and the number of keys and documents. Source of the text of plans: MongoDB manual, "Database
// Profiler Output", planSummary.
//
// Not thread-safe. Only the thread that reads with the ReadView's Snapshot or Transaction may call
// these functions. No other thread may change the observer.
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
// Records that a read with this plan begins. `distinct` is the result of PlanExecutor::distinct().
void record_plan(ReadView& read_view, const CollectionMetadata& metadata, const query::Plan& plan,
                 bool distinct = false);
// Records a lookup in the index on _id, which servers call IDHACK.
void record_by_id(ReadView& read_view, const CollectionMetadata& metadata);
// Records a lookup of one key in one index, without a plan. `found` says whether the key was found
// and its document read.
void record_lookup(ReadView& read_view, const CollectionMetadata& metadata,
                   const IndexMetadata& index, bool found);
// Adds to the observer's numbers of examined keys and documents. `observer` may be null.
void record_examined(engine::ReadObserver* observer, int64_t keys, int64_t documents);

}  // namespace gridmount::local
