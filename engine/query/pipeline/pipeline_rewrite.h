// Reorders stages, so that they have the same result at a lower cost, and finds the work that the
// PipelineStorage can do. Internal to engine/query. Thread-safety: functions without state.
#pragma once

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Moves a $match before a $sort, tells a $sort how many of its results a following $limit needs,
// and merges an $unwind into a $lookup.
void rewrite_stages(ParsedStages& stages);

// Returns the filter, sort, skip and limit of the first stages. Sets `filter_stages` to the number
// of stages that the filter replaces, and `request_stages` to the number that the whole request
// replaces.
FindRequest request_of(const ParsedStages& stages, size_t& filter_stages, size_t& request_stages);

}  // namespace gridmount::query
