// gridstore check of a deployment. Servers check the structure of their collections themselves
// (validate). So this command checks and repairs only the GridFS content. Others may use the
// deployment in the meantime.
//
// Not thread-safe.
#pragma once

#include "command_line/exit_status.h"
#include "tools/gridstore/check/content_check.h"

namespace gridmount::tools {

// Checks the databases that databases_of() returns (content_check.h). With CheckOptions::repair,
// first repairs the one database that --db or the connection string selects.
ExitStatus check_deployment(CheckOptions options);

}  // namespace gridmount::tools
