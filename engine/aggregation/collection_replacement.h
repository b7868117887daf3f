// Replaces the whole contents of a collection by new documents, for the stage $out.
//
// Thread-safety: not thread-safe. The result must be used by the thread that uses the transaction.
#pragma once

#include <memory>
#include <string_view>

#include "engine/base/error.h"
#include "engine/query/pipeline/pipeline_storage.h"
#include "engine/store.h"

namespace gridmount::aggregation {

// Makes a new collection. If `collection` exists, the new collection gets its options and indexes.
// The caller must add the documents to the result, and then call finish(), which renames the new
// collection to `collection`. Unless finish() succeeds, the destructor of the result drops the new
// collection. All this happens in the transaction, which must outlive the result. Fails with
// Location17152 for a capped collection, with CommandNotSupportedOnView for a view, and as
// Database::create() and Collection::create_index() do.
Result<std::unique_ptr<query::CollectionReplacement>> replace_collection_in(
    std::shared_ptr<engine::Database> database, engine::Transaction& transaction,
    std::string_view collection, bool bypass_validation);

}  // namespace gridmount::aggregation
