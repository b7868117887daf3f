// gridstore check: reads everything in a store and reports what is wrong.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// It prints the findings on stdout and failures on stderr. A store in use is checked beside its
// owner, as it is when the check begins: the structure on one snapshot, the content on another.
Subcommand add_check(CLI::App& app);

}  // namespace gridmount::tools
