// Reorders stages, so that they have the same result at a lower cost, and finds the work that the
// PipelineStorage can do. Internal to engine/query. Thread-safety: functions without state.
#pragma once

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Moves a $match before a $sort, tells a $sort how many of its results a following $limit needs,
// and merges an $unwind into a $lookup.
void rewrite_stages(ParsedStages& stages);

// Returns a request that does the work of the first stages: $match stages that the source can
// apply, then a $sort, then $skip and $limit stages. The filter replaces the first `filter_stages`
// stages, and the whole request the first `request_stages` stages. Sets both.
FindRequest request_of(const ParsedStages& stages, size_t& filter_stages, size_t& request_stages);

}  // namespace gridmount::query
