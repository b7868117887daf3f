// `gridstore top` shows which operations a server or a mount runs, and how much time they take.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Shows a table every --interval seconds. Ends after --count tables, after SIGINT or SIGTERM, or
// when the user presses q on a terminal.
Subcommand add_top(CLI::App& app);

}  // namespace gridmount::tools
