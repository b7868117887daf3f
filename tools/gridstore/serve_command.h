// gridstore serve: answers MongoDB's wire protocol on a store without a mount.
//
// Not thread-safe: for the main thread.
#pragma once

#include <string>
#include <vector>

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// The subcommand runs in the foreground until SIGTERM, SIGINT or SIGHUP. A second signal ends it at
// once. It logs to stderr. Its run() must be called before the process has started a thread.
// `arguments` are those of the process's command line, which clients can query (getCmdLineOpts).
Subcommand add_serve(CLI::App& app, std::vector<std::string> arguments);

}  // namespace gridmount::tools
