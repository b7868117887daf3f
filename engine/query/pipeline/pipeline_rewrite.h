// Reorders stages so that the pipeline has the same result at a lower cost, and finds the work that
// the PipelineStorage can do. Internal to engine/query. Thread-safety: functions without state.
#pragma once

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Moves a $match before a preceding $sort, tells a $sort how many of its results a following $limit
// needs, and merges an $unwind into a preceding $lookup.
void rewrite_stages(ParsedStages& stages);

// Returns a request that does the work of the first stages: $match stages that the source can
// apply, then a $sort, then $skip and $limit stages. Sets `filter_stages` to the number of the
// first stages that the filter replaces, and `request_stages` to the number of the first stages
// that the whole request replaces.
FindRequest request_of(const ParsedStages& stages, size_t& filter_stages, size_t& request_stages);

}  // namespace gridmount::query
