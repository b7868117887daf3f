// gridstore backup: a store with what another one holds at one moment.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// It makes a store that is durable when the command has ended, reads all of it as check does, and
// tells on stdout. Works on a store in use, beside its owner, whose file grows meanwhile by what is
// written.
Subcommand add_backup(CLI::App& app);

}  // namespace gridmount::tools
