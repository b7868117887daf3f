// gridstore check: reads everything in a store and reports what is damaged.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Prints the findings on stdout and failures on stderr. A store in use is checked beside its owner,
// in the state at the start of the check. The structure and the content are checked on two
// different read views.
Subcommand add_check(CLI::App& app);

}  // namespace gridmount::tools
