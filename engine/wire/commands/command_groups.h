// The groups of commands. Each group has a file, and table.cc combines them.
//
// Thread-safe: functions without state.
#pragma once

#include <string_view>
#include <vector>

#include "engine/wire/command.h"

namespace gridmount::wire {

using Commands = std::vector<Command>;

// Returns a command that runs only on the admin database and needs the privilege of `action` on the
// cluster.
Command cluster_command(std::string_view name, Status (*run)(Call&, bson::Builder&),
                        std::string_view action, std::string_view about);
// Returns a command whose first field names a collection, and that needs the privilege of `action`
// on this collection.
Command collection_command(std::string_view name, Status (*run)(Call&, bson::Builder&),
                           std::string_view action, std::string_view about);

Commands handshake_commands();        // hello, buildInfo, ...
Commands ping_commands();             // ping
Commands list_commands_commands();    // listCommands
Commands find_commands();             // find
Commands cursor_commands();           // getMore, killCursors
Commands count_commands();            // count
Commands distinct_commands();         // distinct
Commands aggregate_commands();        // aggregate
Commands explain_commands();          // explain
Commands insert_commands();           // insert
Commands update_commands();           // update
Commands delete_commands();           // delete
Commands find_and_modify_commands();  // findAndModify
Commands collection_commands();       // create, drop, listCollections, listDatabases, ...
Commands rename_commands();           // renameCollection
Commands index_commands();            // createIndexes, ...
Commands statistics_commands();       // collStats, dbStats, dataSize
Commands validate_commands();         // validate
Commands compact_commands();          // compact
Commands fsync_commands();            // fsync, fsyncUnlock
Commands authentication_commands();   // saslStart, logout, ...
Commands user_commands();             // createUser, ...
Commands user_info_commands();        // usersInfo, rolesInfo
Commands merge_users_commands();      // _mergeAuthzCollections
Commands session_commands();          // endSessions, ...
Commands operation_commands();        // currentOp, killOp, profile, ...
Commands server_status_commands();    // serverStatus, hostInfo
Commands parameter_commands();        // getParameter, getLog, ...
Commands probe_commands();            // replSetGetStatus, connPoolStats, ...
Commands file_md5_commands();         // filemd5

}  // namespace gridmount::wire
