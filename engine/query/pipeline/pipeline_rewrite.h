// Reorders stages so that they cost less with the same result, and derives what the source can do
// for them. Internal to engine/query. Thread-safety: functions without state.
#pragma once

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Moves $match before $sort, and merges $limit into $sort and $unwind into $lookup.
void rewrite_stages(ParsedStages& stages);

// Returns the filter, sort, skip and limit of the leading stages. The filter covers the first
// `filter_stages` of them, and the whole request covers the first `request_stages`.
FindRequest request_of(const ParsedStages& stages, size_t& filter_stages, size_t& request_stages);

}  // namespace gridmount::query
