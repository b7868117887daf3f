// What explain adds to the plans that the engine tells of.
// Source: MongoDB manual, "explain" (database command), "Explain Results".
//
// Thread-safety: functions without state.
#pragma once

#include "engine/wire/call.h"
#include "engine/wire/commands/aggregate.h"

namespace gridmount::wire {

// FailedToParse if the aggregate command that is explained has one.
Status refuse_write_concern(bson::View aggregate);

Result<bson::Document> explain_aggregate(Call& call, const AggregateCommand& aggregate,
                                         const engine::AggregateOptions& options,
                                         engine::Verbosity verbosity);

// command, serverInfo and serverParameters, which end each explanation.
void append_explain_footer(Call& call, bson::View command, bson::Builder& reply);

}  // namespace gridmount::wire
