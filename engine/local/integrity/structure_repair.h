// Repairs the problems that check_structure() finds (structure_check.h).
//
// Not thread-safe: nobody else may use the store during a repair.
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
  // Keeps a sound document that conflicts with another one, that cannot be in an index of its
  // collection, or that belongs to no collection.
  virtual Status keep_document(const engine::Namespace& ns, bson::View document) = 0;
  // Keeps bytes that are not a valid document: the value of a record or of another entry, or a
  // whole damaged page. `what` names the object, and `why` says what is wrong with it.
  virtual Status keep_bytes(const engine::Namespace& ns, const std::string& what,
                            const std::string& why, std::string_view bytes) = 0;
  // Makes everything durable that was kept so far.
  virtual Status sync() = 0;
};

struct RepairOptions {
  RemovedData& removed;
  // `repaired` must be set. It is called with one line for each repair, after its commit. `at` is
  // called with the object that is examined next, so that the caller can name this object if the
  // repair hangs or crashes.
  std::function<void(const std::string& line)> repaired;
  std::function<void(const std::string& place)> at = {};
};

struct RepairReport {
  uint64_t repaired = 0;                  // the number of calls of RepairOptions::repaired
  std::vector<std::string> unrepairable;  // at most kMaxProblems (structure_check.h)
  // Collections that have fewer documents than the catalog's count, or whose count was lost.
  std::vector<engine::Namespace> lost_documents;
};

// Repairs the problems that check_structure() finds. The store must be open for writing, and nobody
// else may use it. Corrects the index entries so that they match the documents, and the counts so
// that they match the records. Removes three kinds of records: records that cannot be read,
// documents that cannot be in an index of their collection, and documents that violate a unique
// index (of the documents with the same key, the one with the lowest record id stays, unless
// another one cannot be removed because of damaged pages). Also removes patches without a record,
// and keys that belong to no collection or index. Works in transactions of bounded size, and each
// of them leaves a store that can be opened and repaired again. Before a transaction that removes
// data is committed, `options.removed` has kept and synced the data. Cannot repair damaged entries
// of the catalog and damaged pages of the trees, but the report lists the ones that were found.
// Fails with IllegalOperation if `store` is not a LocalStore, with StoreReadOnly if `store` is open
// read-only, with the errors of `options.removed`, and with errors that are not damage, such as
// those of a full disk or of the device.
Result<RepairReport> repair_structure(engine::Store& store, const RepairOptions& options);

}  // namespace gridmount::local
