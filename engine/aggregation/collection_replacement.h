// $out: documents replace the whole contents of a collection.
//
// Thread-safety: not thread-safe. A Replacement belongs to its transaction.
#pragma once

#include <memory>
#include <string_view>

#include "engine/base/error.h"
#include "engine/query/pipeline/pipeline_storage.h"
#include "engine/store.h"

namespace gridmount::aggregation {

// Writes the documents into a new collection with the options and indexes of the current one. At
// the end the new collection takes its name. All of it happens in the transaction. Fails with 17152
// for a capped collection and with CommandNotSupportedOnView for a view. `transaction` must outlive
// the result.
Result<std::unique_ptr<query::CollectionReplacement>> replace_collection_in(
    std::shared_ptr<engine::Database> database, engine::Transaction& transaction,
    std::string_view collection, bool bypass_validation);

}  // namespace gridmount::aggregation
