// gridstore check of a deployment. Servers check the structure of their collections themselves
// (validate). So this command checks and repairs only the GridFS content, while others use it.
//
// Not thread-safe.
#pragma once

#include "command_line/exit_status.h"
#include "tools/gridstore/check/content_check.h"

namespace gridmount::tools {

// Checks the deployment, or repairs one database of it and checks that again.
ExitStatus check_deployment(CheckOptions options);

}  // namespace gridmount::tools
