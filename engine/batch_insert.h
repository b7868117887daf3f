// Inserts many documents with few round trips, where a store can do that.
//
// Thread-safety: as for Collection (engine/store.h).
#pragma once

#include <cstddef>
#include <span>

#include "engine/store.h"

namespace gridmount::engine {

// The Collection of a store over a network also implements this interface.
class BatchInserter {
 public:
  virtual ~BatchInserter() = default;
  // Does what the function insert_all() below does, with `options`. Sets `inserted` to the number
  // of documents that were inserted: all documents, or the documents before the first one that
  // fails. If the reply of a server is lost, or the server refuses a whole command, counts none of
  // the documents of that command.
  virtual Status insert_all(Transaction& transaction, std::span<const bson::View> documents,
                            size_t& inserted, const InsertOptions& options = {}) = 0;
};

// Inserts the documents in their order. Stops at the first one that cannot be inserted, and fails
// as Collection::insert() does for this document. Each document must have an _id. The documents
// before the one that fails stay inserted, if the transaction can continue
// (Capabilities::continues_after_failed_writes).
inline Status insert_all(Collection& collection, Transaction& transaction,
                         std::span<const bson::View> documents) {
  if (auto* const batches = dynamic_cast<BatchInserter*>(&collection)) {
    size_t inserted = 0;
    return batches->insert_all(transaction, documents, inserted);
  }
  for (const bson::View document : documents) GM_TRY(collection.insert(transaction, document));
  return {};
}

}  // namespace gridmount::engine
