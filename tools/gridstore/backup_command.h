// gridstore backup: copies a store as it is at one moment.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// When the command has ended, the copy is durable. The command then reads all of the copy as
// `check` does and reports on stdout. The command also works on a store in use, beside its owner.
// During the copy, the store's file grows by what the owner writes.
Subcommand add_backup(CLI::App& app);

}  // namespace gridmount::tools
