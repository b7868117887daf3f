// gridstore query: prints the documents of a collection that match a filter.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Prints Extended JSON on stdout, one document on each line, and failures on stderr. Works on a
// store in use, beside its owner, and on a deployment. Damaged documents are reported and left out,
// and the exit status shows this. With a sort, the first damaged document ends the command.
Subcommand add_query(CLI::App& app);

}  // namespace gridmount::tools
