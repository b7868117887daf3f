// gridstore backup: copies a store as it is at one moment.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// The subcommand makes the copy durable. Unless --no-check is given, it then checks the structure
// of the copy as `check` does, but not the GridFS content, and reports on stdout. It also works on
// a store in use, beside its owner. During the copy, the store does not reuse the space that writes
// free, so its file may grow by the owner's writes.
Subcommand add_backup(CLI::App& app);

}  // namespace gridmount::tools
