// The stages by name. Internal to this folder.
#pragma once

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Code 40324 if there is no such stage.
Status parse_stage(const StageCall& call, ParsedStages& stages);
bool is_stage(std::string_view name);
tl::unexpected<Error> unknown_stage(std::string_view name);

// An element of a pipeline: {$match: ...}. Codes 14 and 40323 if it is anything else.
Result<StageCall> stage_call(bson::ValueView element, VariableScope& scope, Place place, int depth);

// Code 7749501 if a pipeline has too many stages.
Status check_length(size_t stages);

// --- The stages that are not declared elsewhere.
Status parse_bucket(const StageCall& call, ParsedStages& stages);
Status parse_bucket_auto(const StageCall& call, ParsedStages& stages);
Status parse_coll_stats(const StageCall& call, ParsedStages& stages);
Status parse_count(const StageCall& call, ParsedStages& stages);
Status parse_documents(const StageCall& call, ParsedStages& stages);
Status parse_facet(const StageCall& call, ParsedStages& stages);
Status parse_graph_lookup(const StageCall& call, ParsedStages& stages);
Status parse_group(const StageCall& call, ParsedStages& stages);
Status parse_index_stats(const StageCall& call, ParsedStages& stages);
Status parse_lookup(const StageCall& call, ParsedStages& stages);
Status parse_merge(const StageCall& call, ParsedStages& stages);
Status parse_out(const StageCall& call, ParsedStages& stages);
Status parse_redact(const StageCall& call, ParsedStages& stages);
Status parse_sample(const StageCall& call, ParsedStages& stages);
Status parse_sort_by_count(const StageCall& call, ParsedStages& stages);
Status parse_union_with(const StageCall& call, ParsedStages& stages);
Status parse_unwind(const StageCall& call, ParsedStages& stages);

}  // namespace gridmount::query
