// Builds the documents of currentOp and $currentOp (running operations and idle cursors), and of
// $listLocalSessions.
// Source: MongoDB manual, "$currentOp", "currentOp".
//
// Thread-safe: functions without state.
#pragma once

#include <vector>

#include "engine/wire/call.h"

namespace gridmount::wire {

// `options` are those of $currentOp: allUsers, idleConnections, idleCursors, idleSessions,
// localOps, truncateOps, backtrace.
Result<std::vector<bson::Document>> current_operations(Call& call, bson::View options);

// `options` is {} or {allUsers: true}. {users: ...} is refused.
Result<std::vector<bson::Document>> local_sessions(Call& call, bson::View options);

}  // namespace gridmount::wire
