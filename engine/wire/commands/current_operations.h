// Builds the documents of currentOp and $currentOp (running operations and idle cursors), and of
// $listLocalSessions.
// Source: MongoDB manual, "$currentOp", "currentOp".
//
// Thread-safe: functions without state.
#pragma once

#include <vector>

#include "engine/wire/call.h"

namespace gridmount::wire {

// Returns the running operations, and with the option idleCursors also the idle cursors. `options`
// are those of $currentOp: idleCursors, truncateOps (shows the beginnings of long commands), and,
// without effect, allUsers, idleConnections, idleSessions, localOps, backtrace and targetAllNodes.
// Fails with FailedToParse for any other option, and with TypeMismatch for a value that is not a
// boolean.
Result<std::vector<bson::Document>> current_operations(Call& call, bson::View options);

// Returns all sessions of this server. `options` is {} or {allUsers: ...}. Fails with UnknownField
// for any other option, also for `users`.
Result<std::vector<bson::Document>> local_sessions(Call& call, bson::View options);

}  // namespace gridmount::wire
