// Finds the parsers of stages by their names. Internal to engine/query. Thread-safety: functions
// without state.
#pragma once

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Parses a stage. Fails with code 40324 if no stage has this name, and with the codes of the stage.
Status parse_stage(const StageCall& call, ParsedStages& stages);
bool is_stage(std::string_view name);
tl::unexpected<Error> unknown_stage(std::string_view name);

// Splits an element of a pipeline, such as {$match: ...}, into name and value. Fails with code 14
// or 40323 if it does not have this form.
Result<StageCall> stage_call(bson::ValueView element, VariableScope& scope, PipelineLevel level,
                             int depth);

// Fails with code 7749501 if a pipeline has too many stages.
Status check_length(size_t stages);

// --- The stages that other headers do not declare.
Status parse_bucket(const StageCall& call, ParsedStages& stages);
Status parse_bucket_auto(const StageCall& call, ParsedStages& stages);
Status parse_coll_stats(const StageCall& call, ParsedStages& stages);
Status parse_count(const StageCall& call, ParsedStages& stages);
Status parse_densify(const StageCall& call, ParsedStages& stages);
Status parse_documents(const StageCall& call, ParsedStages& stages);
Status parse_facet(const StageCall& call, ParsedStages& stages);
Status parse_fill(const StageCall& call, ParsedStages& stages);
Status parse_graph_lookup(const StageCall& call, ParsedStages& stages);
Status parse_group(const StageCall& call, ParsedStages& stages);
Status parse_index_stats(const StageCall& call, ParsedStages& stages);
Status parse_lookup(const StageCall& call, ParsedStages& stages);
Status parse_merge(const StageCall& call, ParsedStages& stages);
Status parse_out(const StageCall& call, ParsedStages& stages);
Status parse_redact(const StageCall& call, ParsedStages& stages);
Status parse_sample(const StageCall& call, ParsedStages& stages);
Status parse_set_window_fields(const StageCall& call, ParsedStages& stages);
Status parse_sort_by_count(const StageCall& call, ParsedStages& stages);
Status parse_union_with(const StageCall& call, ParsedStages& stages);
Status parse_unwind(const StageCall& call, ParsedStages& stages);

}  // namespace gridmount::query
