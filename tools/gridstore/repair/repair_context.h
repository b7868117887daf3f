// What every part of a repair of GridFS content works with.
#pragma once

#include <chrono>
#include <cstdint>

#include "engine/store.h"
#include "tools/gridstore/check/findings.h"
#include "tools/gridstore/repair/keep_folder.h"

namespace gridmount::tools {

struct RepairContext {
  engine::Store& store;
  KeepFolder& keep;
  Findings& findings;          // told of what is mended
  std::chrono::seconds grace;  // chunks made since may be of an upload that was interrupted lately
};

// What one transaction of a repair changes at most.
inline constexpr uint64_t kRepairDocumentsMax = 1000;
inline constexpr uint64_t kRepairBytesMax = 16 * 1024 * 1024;

// Removes the document with that _id, which has just been read. An error of damage if it is not
// found: no loop may take such a document out for ever.
inline Status remove_found(engine::Collection& collection, engine::Transaction& transaction,
                           bson::View by_id) {
  GM_ASSIGN(const int64_t removed, collection.remove(transaction, by_id, false));
  if (removed == 1) return {};
  return fail(ErrorCode::kDataCorruptionDetected,
              collection.ns().full() + ": a document that is there is not found by its _id");
}

// What `transaction` takes out is kept before it is taken out.
inline Status commit_kept(RepairContext& context, engine::Transaction& transaction) {
  GM_TRY(context.keep.sync());
  return transaction.commit();
}

}  // namespace gridmount::tools
