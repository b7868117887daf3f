// `gridstore top` shows what a server or a mount does, and how long that takes.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Shows a table every --interval seconds. Ends after --count tables, after SIGINT or SIGTERM, or on
// a terminal when the user presses q.
Subcommand add_top(CLI::App& app);

}  // namespace gridmount::tools
