// Mends one bucket: its indexes, then its folders, then its files and chunks.
#pragma once

#include <memory>
#include <string>

#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Mends what check_bucket() finds, on a store whose structure is sound. In transactions of bounded
// size (but for an index that is made); what one takes out is kept before. A repair that ends
// anywhere is begun again.
Status repair_bucket(RepairContext& context, const std::shared_ptr<engine::Database>& database,
                     const std::string& bucket);

}  // namespace gridmount::tools
