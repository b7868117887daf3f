// gridstore compact: gives a store's free space back to the file system.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Only while the store is not in use. See local::compact_store() for what an interruption leaves.
Subcommand add_compact(CLI::App& app);

}  // namespace gridmount::tools
