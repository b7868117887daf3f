// gridstore dump: writes what is in a store as files that mongorestore and gridstore restore read.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// All of it is of one snapshot. A store in use is read beside its owner, which is not held up. On
// stderr it says what it has written, and failures; stdout has the archive, if that is asked for.
// Documents that are damaged are reported and left out, and the exit status then says so.
Subcommand add_dump(CLI::App& app);

}  // namespace gridmount::tools
