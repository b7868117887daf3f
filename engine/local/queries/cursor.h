// The cursors that find() returns.
//
// Thread-safety: not thread-safe. A cursor must be used by the thread that uses its Snapshot or
// Transaction.
#pragma once

#include <memory>
#include <optional>

#include "engine/local/catalog/read_view.h"
#include "engine/local/queries/plan_executor.h"
#include "engine/query/projection/projection.h"
#include "engine/store.h"

namespace gridmount::local {

// The cursor over a collection that does not exist. It has no documents.
class EmptyCursor : public engine::Cursor {
 public:
  Result<std::optional<bson::View>> next() override { return std::optional<bson::View>(); }
};

// The cursor over the matches of a plan. By default, next() returns the documents of the matches.
// If there is a projection, next() applies it. After set_shows_record_ids(), next() adds the record
// ids. After set_returns_keys(), next() returns index keys instead, without projection and record
// ids. engine::Cursor::next() says how long the views are valid.
class FindCursor : public engine::Cursor {
 public:
  FindCursor(std::unique_ptr<PlanExecutor> matches, std::optional<query::Projection> projection)
      : matches_(std::move(matches)), projection_(std::move(projection)) {}

  // Makes next() add the field `$recordId` (FindOptions::show_record_id). Must be called before the
  // first next().
  void set_shows_record_ids() { shows_record_ids_ = true; }
  // Makes next() return index keys {path: value, ...} (FindOptions::return_key). Must be called
  // before the first next(). `index` is the index that the plan reads. It must be one of the
  // indexes of `metadata`, and the cursor keeps `metadata` alive. If the plan reads no index,
  // `index` must be null: next() then returns empty documents.
  void set_returns_keys(std::shared_ptr<const CollectionMetadata> metadata,
                        const IndexMetadata* index);

  Result<std::optional<bson::View>> next() override;
  std::optional<double> text_score() const override { return text_score_; }

 private:
  // Returns the index key that next() returns for the document.
  bson::Document key_of(bson::View document) const;

  std::unique_ptr<PlanExecutor> matches_;
  std::optional<query::Projection> projection_;
  std::optional<double> text_score_;  // the score of the last match that next() has returned
  bool shows_record_ids_ = false;
  bool returns_keys_ = false;
  std::shared_ptr<const CollectionMetadata> metadata_;  // owns *index_
  const IndexMetadata* index_ = nullptr;
  bson::Document made_;  // owns what next() has returned: a key, or a document with its record id
};

}  // namespace gridmount::local
