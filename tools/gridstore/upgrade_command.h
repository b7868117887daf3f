// gridstore upgrade: converts a store to the newest format that this program writes.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Adds the subcommand. No other process may use the store during the upgrade. Afterwards, older
// versions of gridmount cannot open the store. The command does not change a store that has the
// newest format. It prints the store's format version, and after an upgrade also the earlier
// version.
Subcommand add_upgrade(CLI::App& app);

}  // namespace gridmount::tools
