// gridstore upgrade: converts a store to the newest format that this program writes.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// No other process may use the store meanwhile. Older versions of gridmount cannot open the store
// afterwards. A store in the newest format is left unchanged. Prints the format that the store had.
Subcommand add_upgrade(CLI::App& app);

}  // namespace gridmount::tools
