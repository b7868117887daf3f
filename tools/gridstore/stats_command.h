// gridstore stats: what a store holds and what it occupies.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// It prints them on stdout and failures on stderr. Works on a store in use, beside its owner. Reads
// no documents: the counts are kept.
Subcommand add_stats(CLI::App& app);

}  // namespace gridmount::tools
