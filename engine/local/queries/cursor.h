// The cursors that find() returns.
//
// Thread-safety: not thread-safe. A cursor belongs to its Snapshot or Transaction.
#pragma once

#include <memory>
#include <optional>

#include "engine/local/catalog/read_view.h"
#include "engine/local/queries/plan_executor.h"
#include "engine/query/projection/projection.h"
#include "engine/store.h"

namespace gridmount::local {

// The cursor over a collection that does not exist.
class EmptyCursor : public engine::Cursor {
 public:
  Result<std::optional<bson::View>> next() override { return std::optional<bson::View>(); }
};

// next() returns the matches of a plan. By default it returns their documents, projected and with
// record ids if the caller wants that. After set_returns_keys() it returns their index keys
// instead. The views are valid as engine::Cursor::next() says.
class FindCursor : public engine::Cursor {
 public:
  FindCursor(std::unique_ptr<PlanExecutor> matches, std::optional<query::Projection> projection)
      : matches_(std::move(matches)), projection_(std::move(projection)) {}

  // Makes next() add `$recordId` (FindOptions::show_record_id). Call it before the first next().
  void set_shows_record_ids() { shows_record_ids_ = true; }
  // Makes next() return index keys (FindOptions::return_key). Call it before the first next().
  // `index` is the index that the plan reads, and must be one of `metadata`, which the cursor
  // keeps. If the plan reads no index, pass null: next() then returns empty documents.
  void set_returns_keys(std::shared_ptr<const CollectionMetadata> metadata,
                        const IndexMetadata* index);

  Result<std::optional<bson::View>> next() override;
  std::optional<double> text_score() const override { return text_score_; }

 private:
  bson::Document key_of(bson::View document) const;

  std::unique_ptr<PlanExecutor> matches_;
  std::optional<query::Projection> projection_;
  std::optional<double> text_score_;  // of the match that next() has returned last
  bool shows_record_ids_ = false;
  bool returns_keys_ = false;
  std::shared_ptr<const CollectionMetadata> metadata_;  // owns *index_
  const IndexMetadata* index_ = nullptr;
  bson::Document made_;  // a key, or a document with its record id
};

}  // namespace gridmount::local
