// The documents of a query or a pipeline, which a command reads one after the other.
//
// A store in a folder is read beside its owner, from one snapshot. A deployment is read from
// the members that the connection string allows (readPreference), and its documents may change
// during the reading. The memory use does not grow with the number of documents. Only a sort, or a
// stage that gathers documents, needs more memory, up to the limits of the store.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"
#include "tools/gridstore/store_argument.h"

namespace gridmount::tools {

struct Query {
  engine::Namespace ns;
  bson::Document filter;
  bson::Document projection;  // empty: whole documents
  bson::Document sort;        // empty: any order
  int64_t limit = 0;          // 0: no limit
  int64_t skip = 0;
};

class FoundDocuments {
 public:
  // Fails with NamespaceNotFound if there is no such collection, and with the errors of
  // open_argument() and Collection::find().
  static Result<std::unique_ptr<FoundDocuments>> of_query(const StoreArgument& store, Query query);
  // Runs the stages of an aggregation, which must not write: fails with IllegalOperation for $out
  // and $merge. If the name of the collection is empty, the first stage must be one that reads no
  // collection.
  static Result<std::unique_ptr<FoundDocuments>> of_pipeline(const StoreArgument& store,
                                                             const engine::Namespace& ns,
                                                             bson::Document stages);
  FoundDocuments(const FoundDocuments&) = delete;
  FoundDocuments& operator=(const FoundDocuments&) = delete;

  // Returns the next document, valid until the next call, or nothing at the end. In a query without
  // a sort, reports each damaged document on stderr and skips it. Any other damage ends the
  // reading.
  Result<std::optional<bson::View>> next();
  // Returns how many damaged documents were left out.
  uint64_t damaged() const { return damaged_; }
  // Returns how many documents next() is expected to return, or nothing if this is not known. Fewer
  // come if documents are damaged, and the number may differ if others change the store. It is
  // known only for a query with an empty filter, and only if the store counts the documents.
  Result<std::optional<uint64_t>> expected();

 private:
  explicit FoundDocuments(StoreInUse opened) : opened_(std::move(opened)) {}
  static Result<std::unique_ptr<FoundDocuments>> open(const StoreArgument& store);
  Status check_exists(const StoreArgument& store, const engine::Namespace& ns);

  StoreInUse opened_;
  Query query_;
  bson::Document stages_;
  bool is_query_ = false;
  // C++ destroys these members before `opened_`, which has the store, and the last one first.
  std::unique_ptr<engine::Snapshot> snapshot_;
  std::unique_ptr<engine::Collection> collection_;
  std::unique_ptr<engine::Cursor> cursor_;
  uint64_t damaged_ = 0;
};

}  // namespace gridmount::tools
