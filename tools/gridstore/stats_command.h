// gridstore stats: reports the content of a store and the space that it occupies.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// The subcommand prints the figures on stdout and failures on stderr. It works on a store in use,
// beside its owner, and on a deployment. It reads no documents, because the store keeps the counts.
Subcommand add_stats(CLI::App& app);

}  // namespace gridmount::tools
