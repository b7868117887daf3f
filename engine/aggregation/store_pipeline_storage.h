// Implements the storage interface of pipelines (engine/query/pipeline/pipeline_storage.h) with any
// store (engine/store.h).
//
// Thread-safety: not thread-safe. A StorePipelineStorage must be used by the thread that uses its
// snapshot.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/aggregation/aggregate.h"
#include "engine/query/pipeline/pipeline_storage.h"
#include "engine/store.h"

namespace gridmount::aggregation {

// A stream that owns a cursor and returns the documents of this cursor. next() copies the document.
// The returned view is therefore valid until the next call of next(), even if the snapshot is
// paused in between (Snapshot::pause()), so $unwind can continue with a document after a pause.
// next() fails with 232 if pipelines of views are nested more than 64 deep, and with the cursor's
// errors.
class CursorStream : public query::DocumentStream {
 public:
  explicit CursorStream(std::unique_ptr<engine::Cursor> cursor) : cursor_(std::move(cursor)) {}
  Result<std::optional<bson::View>> next() override;
  std::optional<double> text_score() const override { return cursor_->text_score(); }

 private:
  std::unique_ptr<engine::Cursor> cursor_;
  std::vector<uint8_t> document_;
};

struct PipelineStorageOptions {
  // The database of the pipeline, and of each collection name that has no database.
  std::string database;
  std::optional<engine::Deadline> deadline = {};
  bool bypass_validation = false;
  std::string host = {};  // the host that $indexStats and $collStats report
  // The collation of the reads by find(); see engine::FindOptions. has_unique_index() accepts only
  // an index with this collation. find_for_merge() and replace() use the collation of the
  // collection instead.
  bson::Document collation = {};
};

class StorePipelineStorage : public query::PipelineStorage {
 public:
  // `databases` must not be empty (std::function). `snapshot` must outlive this object and the
  // streams that find() returns. If `snapshot` is not a Transaction, the functions that write for
  // $out and $merge fail with IllegalOperation.
  StorePipelineStorage(Databases databases, engine::Snapshot& snapshot,
                       PipelineStorageOptions options);

  Result<std::unique_ptr<query::DocumentStream>> find(const query::CollectionName& collection,
                                                      const query::FindRequest& request) override;
  Status check_interrupt() override;
  Result<bson::Document> collection_stats(const query::CollectionName& collection,
                                          bson::View options) override;
  Result<std::vector<bson::Document>> index_stats(const query::CollectionName& collection) override;
  Result<std::unique_ptr<query::CollectionReplacement>> replace_collection(
      const query::CollectionName& collection) override;
  Result<bool> has_unique_index(const query::CollectionName& collection,
                                const std::set<std::string>& paths) override;
  Result<std::optional<bson::Document>> find_for_merge(const query::CollectionName& collection,
                                                       bson::View filter) override;
  Status insert(const query::CollectionName& collection, bson::View document,
                EmptyTimestamps timestamps) override;
  Status replace(const query::CollectionName& collection, bson::View document,
                 EmptyTimestamps timestamps) override;

 private:
  std::shared_ptr<engine::Database> database_of(const query::CollectionName& collection) const;
  std::unique_ptr<engine::Collection> open(const query::CollectionName& collection) const;
  Result<engine::Transaction*> transaction() const;

  const Databases databases_;
  engine::Snapshot& snapshot_;
  engine::Transaction* const transaction_;  // snapshot_ if it is a Transaction, or null
  const PipelineStorageOptions options_;
};

}  // namespace gridmount::aggregation
