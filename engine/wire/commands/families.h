// The families of commands, one file each; table.cc puts them together.
//
// Thread-safety: functions that return constants.
#pragma once

#include <vector>

#include "engine/wire/command.h"

namespace gridmount::wire {

using Commands = std::vector<Command>;

Commands handshake_commands();  // hello, ping, ...
Commands find_commands();       // find
Commands cursor_commands();     // getMore, killCursors
Commands count_commands();      // count, distinct
Commands aggregate_commands();  // aggregate
Commands explain_commands();    // explain
Commands insert_commands();     // insert
Commands update_commands();     // update
Commands delete_commands();     // delete
Commands find_and_modify_commands();
Commands collection_commands();
Commands rename_commands();          // create, drop, listCollections, listDatabases, ...
Commands index_commands();           // createIndexes, ...
Commands statistics_commands();      // collStats, dbStats, validate, ...
Commands authentication_commands();  // saslStart, logout, ...
Commands user_commands();
Commands user_info_commands();  // createUser, ...
Commands merge_users_commands();
Commands session_commands();    // endSessions, ...
Commands operation_commands();  // currentOp, killOp, profile, ...
Commands server_status_commands();
Commands parameter_commands();  // getParameter, getLog, ...
Commands probe_commands();      // replSetGetStatus, fsync, ...
Commands file_md5_commands();

}  // namespace gridmount::wire
