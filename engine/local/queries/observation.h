// What reads tell of themselves: the usage of indexes ($indexStats), and the plan and counts that a
// snapshot's observer is told. Source of the plans' text: MongoDB manual, "Database Profiler
// Output", planSummary.
#pragma once

#include <vector>

#include "engine/local/catalog/contents.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/query/plan/plan.h"

namespace gridmount::local {

// The range of each index the plan reads, added to `ranges`.
void add_ranges(const CollectionEntry& entry, const query::Plan& plan, std::vector<Range>& ranges);

// The collection does not exist.
void note_missing(Contents& contents);
// A read by this plan begins. `distinct`: MatchStream's.
void note_plan(Contents& contents, const CollectionEntry& entry, const query::Plan& plan,
               bool distinct = false);
// One by the index on _id that servers call IDHACK begins.
void note_by_id(Contents& contents, const CollectionEntry& entry);
// A lookup without a plan: in one index for one key, and its document if it has one.
void note_lookup(Contents& contents, const CollectionEntry& entry, const IndexEntry& index,
                 bool found);
void note_examined(engine::ReadObserver* observer, int64_t keys, int64_t documents);

}  // namespace gridmount::local
