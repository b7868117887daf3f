// Builds the parts of an explanation that the wire server adds to the engine's plans.
// Source: MongoDB manual, "explain" (database command), "Explain Results".
//
// Thread-safe: functions without state.
#pragma once

#include "engine/wire/call.h"
#include "engine/wire/commands/aggregate.h"

namespace gridmount::wire {

// Fails with FailedToParse if the explained aggregate has a write concern.
Status refuse_write_concern(bson::View aggregate);

// Returns the plan of the pipeline, without the fields of append_explain_footer(). Uses only `ns`
// and `pipeline` of `aggregate`: `options` takes the place of its options and variables.
Result<bson::Document> explain_aggregate(Call& call, const AggregateCommand& aggregate,
                                         const engine::AggregateOptions& options,
                                         engine::Verbosity verbosity);

// Appends the last fields of each explanation: command, serverInfo and serverParameters. Leaves out
// `command` if it is larger than 1 MiB.
void append_explain_footer(Call& call, bson::View command, bson::Builder& reply);

}  // namespace gridmount::wire
