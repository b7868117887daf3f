// gridstore check --repair: mends the structure, then the GridFS content of every bucket.
#pragma once

#include <string>
#include <vector>

#include "tools/gridstore/guarded_run.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// On a store that is open for writing and that nobody else uses. Of content only that of
// `databases`. What was mended, and what could not be, goes to the findings; everything is durable
// on return. Says where it is as it goes. An error is one of the device or of the folder.
Status repair_store(RepairContext& context, const std::vector<std::string>& databases,
                    Whereabouts& whereabouts);

}  // namespace gridmount::tools
