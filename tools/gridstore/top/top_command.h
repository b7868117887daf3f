// `gridstore top` shows what a server or a mount does, and how long that takes.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Shows a table every --interval seconds: on a terminal until the user presses q, otherwise until a
// signal comes; or --count of them.
Subcommand add_top(CLI::App& app);

}  // namespace gridmount::tools
