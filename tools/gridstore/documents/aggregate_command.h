// gridstore aggregate: prints the result of a pipeline.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Prints as `query` does. Only reads: $out and $merge are refused. Damage ends the command, because
// the result would be wrong without the damaged documents.
Subcommand add_aggregate(CLI::App& app);

}  // namespace gridmount::tools
