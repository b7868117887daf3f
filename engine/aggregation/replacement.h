// $out: documents that become the whole contents of a collection.
#pragma once

#include <memory>
#include <string_view>

#include "engine/base/error.h"
#include "engine/query/pipeline/pipeline_host.h"
#include "engine/store.h"

namespace gridmount::aggregation {

// The documents go into a new collection, with the options and indexes of the one that is there
// now, whose name it takes at the end; all in the transaction. Code 17152 for a capped collection,
// CommandNotSupportedOnView for a view. `transaction` outlives it.
Result<std::unique_ptr<query::Replacement>> open_replacement(
    std::shared_ptr<engine::Database> database, engine::Transaction& transaction,
    std::string_view collection, bool bypass_validation);

}  // namespace gridmount::aggregation
