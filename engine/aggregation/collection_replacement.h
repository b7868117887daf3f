// The work of $out: documents replace the whole contents of a collection.
//
// Thread-safety: not thread-safe. The result must be used by the thread that uses the transaction.
#pragma once

#include <memory>
#include <string_view>

#include "engine/base/error.h"
#include "engine/query/pipeline/pipeline_storage.h"
#include "engine/store.h"

namespace gridmount::aggregation {

// Makes a new collection with the options and indexes of `collection`, if that exists. The caller
// adds the documents to the result, and calls finish(), which renames the new collection to
// `collection`. If the result is destroyed without finish(), it drops the new collection. All this
// happens in the transaction, which must outlive the result. Fails with Location17152 for a capped
// collection and with CommandNotSupportedOnView for a view.
Result<std::unique_ptr<query::CollectionReplacement>> replace_collection_in(
    std::shared_ptr<engine::Database> database, engine::Transaction& transaction,
    std::string_view collection, bool bypass_validation);

}  // namespace gridmount::aggregation
