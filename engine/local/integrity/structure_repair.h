// Repairs what a store holds below the level of documents.
//
// Not thread-safe: nobody else may use the store meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"

namespace gridmount::local {

// Receives what a repair removes from the store.
class RemovedData {
 public:
  virtual ~RemovedData() = default;
  // Keeps a sound document that conflicts with another one.
  virtual Status keep_document(const engine::Namespace& ns, bson::View document) = 0;
  // Keeps bytes that are not a sound document: the value of a record, or a key and value of the
  // trees. `what` names them. `why` says what is wrong with them.
  virtual Status keep_bytes(const engine::Namespace& ns, const std::string& what,
                            const std::string& why, std::string_view bytes) = 0;
  // Makes everything kept so far durable.
  virtual Status sync() = 0;
};

struct RepairOptions {
  RemovedData& removed;
  // `repaired` is called with one line for each repair, after its commit. `at` is called with the
  // object that is examined next, so that the caller can name it if the repair hangs or crashes.
  std::function<void(const std::string& line)> repaired;
  std::function<void(const std::string& place)> at = {};
};

struct RepairReport {
  uint64_t repaired = 0;                  // the number of calls of RepairOptions::repaired
  std::vector<std::string> unrepairable;  // at most kMaxProblems (structure_check.h)
  // Collections that hold fewer documents than the catalog counted, or whose counts were lost.
  std::vector<engine::Namespace> lost_documents;
};

// Repairs what check_structure() finds, on a store that is open for writing and that nobody else
// uses. Index entries are made to match the documents, and counts to match the records. Two kinds
// of records are taken out: those that cannot be read, and documents that violate a unique index
// (of the documents with one key, the one with the lowest record id stays). Works in transactions
// of bounded size. Each of them leaves a store that can be opened and repaired again. What a
// transaction takes out is kept and synced before it commits. Damaged entries of the catalog and
// damaged pages of the trees cannot be repaired here: the report lists those that were met. It
// fails only with errors of the device and of `removed`.
Result<RepairReport> repair_structure(engine::Store& store, const RepairOptions& options);

}  // namespace gridmount::local
