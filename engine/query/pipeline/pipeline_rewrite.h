// Stages put into an order that costs less and gives the same, and what of them the source can do.
// Internal to this folder.
#pragma once

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// $match before $sort, $limit into $sort, $unwind into $lookup.
void rewrite_stages(ParsedStages& stages);

// Filter, sort, skip and limit of the leading stages. `filter_stages` of them the filter stands
// for, `request_stages` the whole.
FindRequest request_of(const ParsedStages& stages, size_t& filter_stages, size_t& request_stages);

}  // namespace gridmount::query
