// gridstore dump: writes the content of a store as files that mongorestore and gridstore restore
// can read.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// Everything in a store in a folder is read from one read view, but the documents of a deployment
// may change during the dump. A store in use is read beside its owner, and the owner does not have
// to wait. The command reports written collections and failures on stderr. stdout has the archive
// if --archive has no file. Damaged documents are reported and left out, and the exit status shows
// this.
Subcommand add_dump(CLI::App& app);

}  // namespace gridmount::tools
