// gridstore check: reads everything in a store and reports damage.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// The subcommand prints its findings on stdout and failures on stderr. Without --repair it checks a
// store in use beside its owner. It checks the structure in one snapshot, and then the content in a
// later one. After a damaged page, the check of the content continues in a new snapshot.
Subcommand add_check(CLI::App& app);

}  // namespace gridmount::tools
