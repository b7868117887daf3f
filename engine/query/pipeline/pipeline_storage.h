// The interface through which a pipeline reads and writes collections of a store.
// engine/aggregation implements it. Stages access collections only through this interface and
// through their input.
//
// Thread-safety: a PipelineStorage must be used by the thread that runs the pipeline.
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

// A read of a collection. Filter, sort, skip and limit are applied in this order.
struct FindRequest {
  bson::Document filter;
  bson::Document sort;  // empty: any order
  int64_t skip = 0;
  std::optional<int64_t> limit;  // never 0
  // The dotted paths that the caller of find() needs. If unset, the caller needs whole documents.
  // If empty, the caller needs only the number of documents. The caller uses no other fields, so
  // find() may read from an index that has these paths. An index is not enough if an array occurs
  // anywhere along a path: the caller then also needs the number of the array's elements, and which
  // of the elements are documents.
  std::optional<std::set<std::string>> fields;
  // If true, the stream must return the documents' text scores (DocumentStream::text_score()), and
  // the filter must have a $text.
  bool text_score = false;
};

// Replaces the whole contents of a collection by new documents ($out). Must be destroyed before the
// end of the transaction in which the pipeline runs.
class CollectionReplacement {
 public:
  // If finish() was not called, the collection is unchanged.
  virtual ~CollectionReplacement() = default;
  // Adds a document. A document without an _id gets one. Fails as the insert of a document does,
  // for example with DuplicateKey.
  virtual Status add(bson::View document) = 0;
  // Replaces the contents of the collection, which keeps its indexes. Creates the collection if it
  // does not exist.
  virtual Status finish() = 0;
};

class PipelineStorage {
 public:
  virtual ~PipelineStorage() = default;

  // Reads from the same snapshot as the pipeline's input. A collection that does not exist has no
  // documents. `request` need not outlive the call. The stream must be destroyed before the
  // snapshot. A document of the stream is valid until the stream's next call of next().
  virtual Result<std::unique_ptr<DocumentStream>> find(const CollectionName& collection,
                                                       const FindRequest& request) = 0;

  // A stage that makes many documents from one document must call this from time to time. An error
  // (MaxTimeMSExpired) must end the pipeline.
  virtual Status check_interrupt() { return {}; }

  // Returns the document of $collStats for `options` ({count: {}, storageStats: {scale: 1}, ...}).
  // The caller must have checked the options.
  virtual Result<bson::Document> collection_stats(const CollectionName& collection,
                                                  bson::View options) = 0;
  // Returns one document per index, as $indexStats returns them.
  virtual Result<std::vector<bson::Document>> index_stats(const CollectionName& collection) = 0;

  // --- The functions below are for $out and $merge. These functions see the pipeline's earlier
  // writes. The functions that write fail with IllegalOperation if the pipeline does not run in a
  // transaction.

  // Begins the replacement of a collection's contents. Fails with Location17152 if the collection
  // is capped, and with CommandNotSupportedOnView if it is a view. Several replacements may exist
  // at the same time.
  virtual Result<std::unique_ptr<CollectionReplacement>> replace_collection(
      const CollectionName& collection) = 0;
  // Returns whether a unique index that is not partial, and has the collation of the pipeline, has
  // exactly these paths, in any order. Returns true for {_id} in a collection that does not exist.
  virtual Result<bool> has_unique_index(const CollectionName& collection,
                                        const std::set<std::string>& paths) = 0;
  // Returns a copy of the document that matches `filter`, or nothing if there is none. `filter` has
  // one equality for each field of a unique index.
  virtual Result<std::optional<bson::Document>> find_for_merge(const CollectionName& collection,
                                                               bson::View filter) = 0;
  // The treatment of Timestamp(0, 0) in a top-level field of a written document.
  enum class EmptyTimestamps { kFilledIn, kKept };
  // Inserts a document. If it has no _id, it gets one. Fails with DuplicateKey if another document
  // has the same unique key.
  virtual Status insert(const CollectionName& collection, bson::View document,
                        EmptyTimestamps timestamps) = 0;
  // Replaces the document that has the _id of `document`. Succeeds without a change if there is no
  // such document. Fails with DuplicateKey if another document has one of the new unique keys.
  virtual Status replace(const CollectionName& collection, bson::View document,
                         EmptyTimestamps timestamps) = 0;
};

}  // namespace gridmount::query
