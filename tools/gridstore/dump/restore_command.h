// gridstore restore: restores what gridstore dump or mongodump has written.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Restores into a deployment or into a store in a folder. The command owns the folder while it
// runs, so the command refuses a store in use, except with --dryRun. mongorestore can restore into
// such a store through its owner. The command reports on stderr what it has restored and what it
// could not restore. The exit status is 1 if the command could not restore something. If an error
// ends the restore, the exit status is the one of that error (command_line/exit_status.h).
Subcommand add_restore(CLI::App& app);

}  // namespace gridmount::tools
