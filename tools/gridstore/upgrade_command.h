// gridstore upgrade: brings a store to the newest format that this program writes.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// It needs the store for itself. Older versions of gridmount cannot open the store afterwards; a
// store that has the newest format stays as it is. Says which format the store has had.
Subcommand add_upgrade(CLI::App& app);

}  // namespace gridmount::tools
