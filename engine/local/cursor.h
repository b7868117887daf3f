// The cursors that find() gives.
#pragma once

#include <memory>
#include <optional>

#include "engine/local/contents.h"
#include "engine/local/match_stream.h"
#include "engine/query/projection.h"
#include "engine/store.h"

namespace gridmount::local {

// Over a collection that does not exist.
class EmptyCursor : public engine::Cursor {
 public:
  Result<std::optional<bson::View>> next() override { return std::optional<bson::View>(); }
};

class FindCursor : public engine::Cursor {
 public:
  FindCursor(std::unique_ptr<MatchStream> matches, std::optional<query::Projection> projection)
      : matches_(std::move(matches)), projection_(std::move(projection)) {}

  Result<std::optional<bson::View>> next() override;

 private:
  std::unique_ptr<MatchStream> matches_;
  std::optional<query::Projection> projection_;
  bson::Document projected_;
};

}  // namespace gridmount::local
