// gridstore restore: restores what gridstore dump or mongodump has written.
//
// Not thread-safe.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// The command owns the store while it runs, so it refuses a store in use. mongorestore can restore
// into such a store through its owner. The command reports what it has restored, and what it could
// not, on stderr. In the latter case the exit status is 1.
Subcommand add_restore(CLI::App& app);

}  // namespace gridmount::tools
