// The interface to the store that a pipeline runs over. engine/aggregation implements it. Stages
// access collections only through it and through their input.
//
// Thread-safety: a PipelineStorage is used by the thread that runs the pipeline.
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
  std::string database;  // empty: the database that the pipeline runs in
  std::string collection;

  friend auto operator<=>(const CollectionName&, const CollectionName&) = default;
};

// A read of a collection. Filter, sort, skip and limit apply in this order.
struct FindRequest {
  bson::Document filter;
  bson::Document sort;  // empty: any order
  int64_t skip = 0;
  std::optional<int64_t> limit;  // never 0
  // The dotted paths that the reader needs. If unset, the reader needs whole documents. If empty,
  // only the number of documents matters. The reader ignores everything else in the documents, so
  // an index that holds these paths is enough, with one exception: for an array on a path, the
  // reader also needs the number of its elements and which of them are documents.
  std::optional<std::set<std::string>> fields;
};

// Documents that replace the whole contents of a collection ($out).
class CollectionReplacement {
 public:
  // Without finish() the collection is unchanged.
  virtual ~CollectionReplacement() = default;
  // Adds a document. A document without an _id gets one.
  virtual Status add(bson::View document) = 0;
  // Replaces the contents of the collection. The collection keeps its indexes. It is created if it
  // does not exist.
  virtual Status finish() = 0;
};

class PipelineStorage {
 public:
  virtual ~PipelineStorage() = default;

  // Reads from the same snapshot as the pipeline's input. A collection that does not exist has no
  // documents. `request` need not outlive the call.
  virtual Result<std::unique_ptr<DocumentStream>> find(const CollectionName& collection,
                                                       const FindRequest& request) = 0;

  // Called from time to time while stages produce many documents from one. An error ends the
  // pipeline (MaxTimeMSExpired, Interrupted).
  virtual Status check_interrupt() { return {}; }

  // Returns the document of $collStats for `options` ({count: {}, storageStats: {scale: 1}, ...}).
  // The options have been checked.
  virtual Result<bson::Document> collection_stats(const CollectionName& collection,
                                                  bson::View options) = 0;
  // Returns one document per index, as $indexStats returns them.
  virtual Result<std::vector<bson::Document>> index_stats(const CollectionName& collection) = 0;

  // --- For $out and $merge. These functions see what was written through them before.
  virtual Result<std::unique_ptr<CollectionReplacement>> replace_collection(
      const CollectionName& collection) = 0;
  // Returns whether a unique index that is not partial has exactly these paths, in any order.
  // Always true for {_id}.
  virtual Result<bool> has_unique_index(const CollectionName& collection,
                                        const std::set<std::string>& paths) = 0;
  // Returns a copy of the document that the equalities in `filter` find. `filter` names the fields
  // of a unique index.
  virtual Result<std::optional<bson::Document>> find_for_merge(const CollectionName& collection,
                                                               bson::View filter) = 0;
  // The treatment of Timestamp(0, 0) in a top-level field of a written document.
  enum class EmptyTimestamps { kFilledIn, kKept };
  // Fails with DuplicateKey if a document has the same unique key. A document without an _id gets
  // one.
  virtual Status insert(const CollectionName& collection, bson::View document,
                        EmptyTimestamps timestamps) = 0;
  // Replaces the document that has the _id of `document`. Fails with DuplicateKey if another
  // document has one of its unique keys.
  virtual Status replace(const CollectionName& collection, bson::View document,
                         EmptyTimestamps timestamps) = 0;
};

}  // namespace gridmount::query
