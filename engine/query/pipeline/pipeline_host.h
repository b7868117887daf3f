// What the stages of a pipeline ask of the store it runs over. The store implements it; the stages
// know no other way to collections but their own input.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/pipeline/document_stream.h"

namespace gridmount::query {

struct CollectionName {
  std::string database;  // empty: the one the pipeline runs in
  std::string collection;

  friend auto operator<=>(const CollectionName&, const CollectionName&) = default;
};

// What is to be read of a collection, in the order of application: filter, sort, skip, limit.
struct FindRequest {
  bson::Document filter;
  bson::Document sort;  // empty: any order
  int64_t skip = 0;
  std::optional<int64_t> limit;  // never 0
  // The dotted paths the reader looks at; unset: whole documents. What else is in a document given
  // is not looked at, so an index that holds these paths is enough. But of an array on the way to
  // the end of a path it is looked at how many elements there are, and which are documents. May be
  // empty: only the number of documents counts.
  std::optional<std::set<std::string>> fields;
};

// The documents that are to become a collection's whole contents ($out).
class Replacement {
 public:
  // Without finish() nothing has happened.
  virtual ~Replacement() = default;
  // A document without _id is given one.
  virtual Status add(bson::View document) = 0;
  // From now on the collection holds these documents, and has the indexes it had. It is made if
  // there was none.
  virtual Status finish() = 0;
};

class PipelineHost {
 public:
  virtual ~PipelineHost() = default;

  // Reads of the same snapshot as the pipeline's input; of a collection that does not exist,
  // nothing. `request` need not outlive the call.
  virtual Result<std::unique_ptr<DocumentStream>> find(const CollectionName& collection,
                                                       const FindRequest& request) = 0;

  // Asked now and then while stages make many documents of one; an error ends the pipeline
  // (MaxTimeMSExpired, Interrupted).
  virtual Status check_interrupt() { return {}; }

  // The document $collStats gives for `options` ({count: {}, storageStats: {scale: 1}, ...}), which
  // have been checked.
  virtual Result<bson::Document> collection_stats(const CollectionName& collection,
                                                  bson::View options) = 0;
  // A document per index, as $indexStats gives them.
  virtual Result<std::vector<bson::Document>> index_stats(const CollectionName& collection) = 0;

  // --- $out and $merge. These see what was written through them before.
  virtual Result<std::unique_ptr<Replacement>> replace_collection(
      const CollectionName& collection) = 0;
  // Whether some unique index that is not partial has exactly these paths in any order;
  // for {_id} always true.
  virtual Result<bool> has_unique_index(const CollectionName& collection,
                                        const std::set<std::string>& paths) = 0;
  // The document these equalities find, a copy. `filter` names the fields of a unique index.
  virtual Result<std::optional<bson::Document>> find_for_merge(const CollectionName& collection,
                                                               bson::View filter) = 0;
  // What becomes of Timestamp(0, 0) in a top-level field of what is written.
  enum class EmptyTimestamps { kFilledIn, kKept };
  // DuplicateKey if there is one. A document without _id is given one.
  virtual Status insert(const CollectionName& collection, bson::View document,
                        EmptyTimestamps timestamps) = 0;
  // Of the document with that one's _id. DuplicateKey if another has one of its unique keys.
  virtual Status replace(const CollectionName& collection, bson::View document,
                         EmptyTimestamps timestamps) = 0;
};

}  // namespace gridmount::query
