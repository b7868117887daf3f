// gridstore upgrade: brings a store to the newest format that this program writes.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// There is one format so far: it opens the store, which puts in order what a machine that went down
// has left, and says that there is nothing to do.
Subcommand add_upgrade(CLI::App& app);

}  // namespace gridmount::tools
