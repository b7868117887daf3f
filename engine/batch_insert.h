// Inserts many documents with few round trips, where a store can do that.
//
// Thread-safety: as Collection.
#pragma once

#include <span>

#include "engine/store.h"

namespace gridmount::engine {

// A Collection whose store is at the other end of a network also implements this.
class BatchInserter {
 public:
  virtual ~BatchInserter() = default;
  // Inserts the documents in their order, up to the first one that fails. Each has an _id.
  virtual Status insert_all(Transaction& transaction, std::span<const bson::View> documents) = 0;
};

// Inserts the documents in their order. Stops at the first one that cannot be inserted, and fails
// with the error that Collection::insert() gives for it. Each document must have an _id.
inline Status insert_all(Collection& collection, Transaction& transaction,
                         std::span<const bson::View> documents) {
  if (auto* const batches = dynamic_cast<BatchInserter*>(&collection)) {
    return batches->insert_all(transaction, documents);
  }
  for (const bson::View document : documents) GM_TRY(collection.insert(transaction, document));
  return {};
}

}  // namespace gridmount::engine
