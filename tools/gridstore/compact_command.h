// gridstore compact: returns the free space of a store to the file system.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Adds the subcommand. The command works only on a store that is not in use. The comment of
// local::compact_store() describes the state after an interruption.
Subcommand add_compact(CLI::App& app);

}  // namespace gridmount::tools
