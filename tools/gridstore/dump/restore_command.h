// gridstore restore: puts back what gridstore dump or mongodump wrote.
#pragma once

#include "tools/gridstore/subcommand.h"

namespace gridmount::tools {

// It owns the store meanwhile: one that is in use is refused (mongorestore reaches it through its
// owner). On stderr it says what it has restored, and what it could not; that makes the exit status
// 1.
Subcommand add_restore(CLI::App& app);

}  // namespace gridmount::tools
