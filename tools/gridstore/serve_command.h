// gridstore serve: answers MongoDB's wire protocol on a store without a mount.
//
// Not thread-safe: for the main thread.
#pragma once

#include <string>
#include <vector>

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Runs in the foreground until SIGTERM, SIGINT or SIGHUP. A second signal ends it at once. Logs to
// stderr. Must be run before the process has started a thread. `arguments` are the process's own,
// which clients can query.
Subcommand add_serve(CLI::App& app, std::vector<std::string> arguments);

}  // namespace gridmount::tools
