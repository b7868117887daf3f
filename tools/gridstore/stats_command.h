// gridstore stats: what a store holds and what it occupies.
#pragma once

#include "tools/gridstore/command.h"

namespace gridmount::tools {

// It prints them on stdout and failures on stderr. Works on a store in use, beside its owner. Reads
// no documents: the counts are kept.
Command add_stats(CLI::App& app);

}  // namespace gridmount::tools
