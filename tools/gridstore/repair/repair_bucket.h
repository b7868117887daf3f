// Repairs one bucket: its indexes, then its directories, then its files and chunks, then its links.
//
// Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Repairs the problems that check_bucket() finds, in a store whose structure is sound. Works in
// transactions of limited size. Data are kept durably before a transaction removes them. An
// interrupted repair can be started again.
Status repair_bucket(RepairContext& context, const std::shared_ptr<engine::Database>& database,
                     const std::string& bucket);

}  // namespace gridmount::tools
