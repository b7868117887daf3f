// gridstore import: writes documents from Extended JSON or CSV into a collection, like mongoimport.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Works on a deployment, and on a store in a folder while it is not in use. Writes in transactions
// of limited size, so the documents of earlier transactions stay after an error. Counts the pieces
// of the input that cannot be imported, and reports the first ones on stderr with their lines. The
// exit status shows these failures.
Subcommand add_import(CLI::App& app);

}  // namespace gridmount::tools
