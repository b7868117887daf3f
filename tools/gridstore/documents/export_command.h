// gridstore export: writes the documents of a collection as Extended JSON or CSV, like mongoexport.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Writes to stdout, or to a file that appears when it is complete. Reports the number of documents,
// and failures, on stderr. Works on a store in use, beside its owner, and on a deployment. Damaged
// documents are reported and left out, and the exit status shows this. With a sort, the first
// damaged document ends the command.
Subcommand add_export(CLI::App& app);

}  // namespace gridmount::tools
