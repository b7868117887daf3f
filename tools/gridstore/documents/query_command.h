// gridstore query: prints the documents of a collection that match a filter.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Prints Extended JSON on stdout, one document on each line, and failures on stderr. Works on a
// store in use, beside its owner. Damaged documents are reported and left out, and the exit status
// shows this.
Subcommand add_query(CLI::App& app);

}  // namespace gridmount::tools
