// What runs and who waits, as currentOp and $currentOp show it; $listLocalSessions.
// Source: MongoDB manual, "$currentOp", "currentOp".
//
// Thread-safety: functions without state.
#pragma once

#include <vector>

#include "engine/wire/call.h"

namespace gridmount::wire {

// `options` as $currentOp takes them: allUsers, idleConnections, idleCursors, idleSessions,
// localOps, truncateOps, backtrace.
Result<std::vector<bson::Document>> current_operations(Call& call, bson::View options);

// `options`: {}, {allUsers: true}; {users: ...} is refused.
Result<std::vector<bson::Document>> local_sessions(Call& call, bson::View options);

}  // namespace gridmount::wire
