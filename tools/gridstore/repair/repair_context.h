// The objects that every part of a repair of GridFS content works with.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "engine/store.h"
#include "tools/gridstore/check/bucket_check.h"
#include "tools/gridstore/check/findings.h"
#include "tools/gridstore/repair/keep_folder.h"

namespace gridmount::tools {

struct RepairContext {
  engine::Store& store;
  KeepFolder& keep;
  Findings& findings;          // gets a line for each repair
  std::chrono::seconds grace;  // chunks without a file stay until they are this old
};

// A transaction of a repair changes no further document when it has reached one of these limits.
// The last document may exceed kRepairBytesMax.
inline constexpr uint64_t kRepairDocumentsMax = 1000;
inline constexpr uint64_t kRepairBytesMax = 16 * 1024 * 1024;

// Returns how many small documents one transaction of a repair changes. A deployment ends a
// transaction after a minute, and each document takes several round trips.
inline uint64_t documents_per_transaction(const engine::Store& store) {
  constexpr uint64_t kOfDeployments = 100;
  return store.capabilities().exclusive ? kRepairDocumentsMax : kOfDeployments;
}

// Removes the document that `by_id`, a filter for an _id, selects. The caller has just read the
// document. Fails with DataCorruptionDetected if it is not found. Without this error, a loop could
// try to remove the document for ever.
inline Status remove_found(engine::Collection& collection, engine::Transaction& transaction,
                           bson::View by_id) {
  GM_ASSIGN(const int64_t removed, collection.remove(transaction, by_id, false));
  if (removed == 1) return {};
  return fail(ErrorCode::kDataCorruptionDetected,
              collection.ns().full() + ": an existing document is not found by its _id");
}

// Returns true if `document` is the files document that the check has judged. Always returns true
// if nobody else can have changed the document since then. The caller writes to the document in the
// same transaction, so that the result stays true.
inline bool is_as_judged(const ContentDamage::File& file, bson::View document) {
  return !file.document || std::ranges::equal(file.document->view().bytes(), document.bytes());
}

// First makes the keep folder durable, because it has the data that the transaction removes. Then
// commits the transaction.
inline Status commit_kept(RepairContext& context, engine::Transaction& transaction) {
  GM_TRY(context.keep.sync());
  return transaction.commit();
}

}  // namespace gridmount::tools
