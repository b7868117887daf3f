// gridstore stats: reports what a store holds and how much space it occupies.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Prints the figures on stdout and failures on stderr. Works on a store in use, beside its owner.
// Reads no documents, because the store keeps the counts.
Subcommand add_stats(CLI::App& app);

}  // namespace gridmount::tools
