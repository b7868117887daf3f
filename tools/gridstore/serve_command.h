// gridstore serve: answers MongoDB's wire protocol on a store, without a mount, until it is told to
// end.
#pragma once

#include <string>
#include <vector>

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// It runs in the foreground until SIGTERM, SIGINT or SIGHUP; a second one ends at once. Logs to
// stderr. To be run before the process has started a thread. `arguments` are the process's own,
// which clients are told.
Subcommand add_serve(CLI::App& app, std::vector<std::string> arguments);

}  // namespace gridmount::tools
