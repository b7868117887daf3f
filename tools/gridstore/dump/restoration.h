// Restores the collections of a dump into a store, as mongorestore does: options, documents, and at
// the end indexes, views and users.
//
// Documents are inserted in transactions of limited size, so the documents of earlier transactions
// stay after an error. A document, index or collection that the store refuses is counted, reported
// and skipped, but only the first refused documents of each collection are reported. With
// `stop_on_error`, the first refusal ends the restore. Users are restored only into a store in a
// folder.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"
#include "tools/gridstore/documents/batched_writes.h"
#include "tools/gridstore/dump/metadata_file.h"
#include "tools/gridstore/dump/restored_users.h"

namespace gridmount::tools {

struct RestoreRules {
  // First drops collections with the same names, except system collections. If the dump has users,
  // also removes the users that are not in the dump.
  bool drop = false;
  bool bypass_validation = false;
  bool stop_on_error = false;
  bool convert_legacy_indexes = false;  // see with_converted_keys()
  bool quiet = false;                   // reports only failures
};

struct RestoreCounts {
  uint64_t documents = 0;
  uint64_t collections = 0;  // including views
  uint64_t indexes = 0;
  uint64_t users = 0;
  uint64_t failures = 0;
};

class Restoration {
 public:
  // `store` must outlive this object.
  Restoration(engine::Store& store, const RestoreRules& rules);
  Restoration(const Restoration&) = delete;
  Restoration& operator=(const Restoration&) = delete;

  // An error of any of these functions ends the restore. Afterwards only counts() may be called.

  // Creates the collection if it does not exist. With RestoreRules::drop, first drops an existing
  // collection. Only finish() creates views. Must be called once for each collection.
  Status begin(const engine::Namespace& ns, const Metadata& metadata);
  // Adds a document. Collections may alternate.
  Status add(const engine::Namespace& ns, bson::View document);
  // Inserts the documents that still wait, and reports how many documents the collection got.
  Status end(const engine::Namespace& ns);
  // Must be called instead of end() if the rest of the collection's documents is damaged or cannot
  // be read. If the collection has users (RestoredUsers::are_in()), no users are restored, because
  // some of them may be missing.
  Status break_off(const engine::Namespace& ns, const Error& error);
  // Counts a failure: something in the dump is damaged or cannot be restored. Returns the error if
  // it ends the restore. Otherwise reports it.
  Status failed(const Error& error);
  // Completes the restore of all collections that were begun, even if they have not ended: creates
  // indexes and views. Adds the users only if their collections have ended without a failure. Makes
  // everything durable.
  Status finish();

  const RestoreCounts& counts() const { return counts_; }

 private:
  struct RestoreTarget {
    engine::Namespace ns;
    Metadata metadata;
    enum class Kind {
      kCollection,
      kView,
      kViewDefinitions,
      kUsers,
      kRefused
    } kind = Kind::kCollection;
    bool is_whole = false;  // end() was called
    uint64_t documents = 0;
    uint64_t failures = 0;
  };
  BatchedWrites<RestoreTarget*>::Actions actions();
  Status make(RestoreTarget& target);
  Status drop_and_create(RestoreTarget& target, engine::Transaction& transaction);
  engine::InsertOptions insert_options() const;
  Status insert(engine::Transaction& transaction, const engine::Namespace& ns, bson::View document);
  Status insert_several(engine::Transaction& transaction, const engine::Namespace& ns,
                        std::span<const bson::View> documents, size_t& written);
  Status document_failed(RestoreTarget& target, const Error& error);
  Status make_indexes(const RestoreTarget& target);
  Status make_index(const RestoreTarget& target, bson::View specification);
  std::vector<bson::Document> converted_indexes(const RestoreTarget& target) const;
  Status print_documents(const RestoreTarget& target);
  Status make_users();

  engine::Store& store_;
  const RestoreRules rules_;
  std::map<engine::Namespace, RestoreTarget> targets_;
  BatchedWrites<RestoreTarget*> writes_;
  RestoredUsers users_;
  RestoreCounts counts_;
};

}  // namespace gridmount::tools
