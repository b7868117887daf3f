// Updates: operator expressions ({$set: ...}), replacements and pipelines, applied to one document
// at a time. A pure function over BSON views. Source: MongoDB manual, "Update Operators" and
// "Updates with Aggregation Pipeline"; conflicts and errors as the server's (codes 2, 9, 14, 28,
// 34, 40, 52, 54, 55, 56, 66, 111).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/filter/filter.h"

namespace gridmount::query {

// Views are not kept.
struct UpdateParseOptions {
  // An array: which elements `$[id]` stands for.
  bson::View array_filters = {};
  // The specification is an array, of stages.
  bool is_pipeline = false;
  // For pipelines: the values of variables ($$x) by name, and $$NOW, one for a whole command.
  bson::View variables = {};
  bson::Date now = {};
};

class Update {
 public:
  // `specification` is either all operators or, with none, a replacement; or an array of stages. An
  // unknown operator is FailedToParse "Unknown modifier: $x".
  static Result<Update> parse(bson::View specification, const UpdateParseOptions& options = {});

  Update(Update&&) noexcept;
  Update& operator=(Update&&) noexcept;
  ~Update();

  bool is_replacement() const;

  struct Applied {
    bson::Document document;
    // As servers count it: false if an operator left everything byte for byte as it was, or a
    // replacement or a pipeline gave exactly that, the _id in its place. True although the document
    // is the same if the replacement leaves out the _id.
    bool modified = false;
  };
  // The document after the update. A replacement keeps the old _id, as does a pipeline that leaves
  // it out; one that compares equal takes its place (1.0 for 1). Another is ImmutableField, and to
  // operators 1.0 is another than 1. A replacement's empty timestamps are filled in.
  // DollarPrefixedFieldName, InvalidDBRef for such names at the top of an existing document.
  // The result is refused beyond bson::kMaxDocumentBytes (17419).
  // `matched_position` is what the filter's matched_position() says of the document, which is asked
  // for only if needs_match(): it is what `$` stands for. Without a position `$` is BadValue.
  Result<Applied> apply(bson::View document,
                        std::optional<size_t> matched_position = std::nullopt) const;
  bool needs_match() const;

  // The document an upsert inserts when nothing matched `filter`: its equalities, then the update.
  // The _id is generated (ObjectId) if neither gives one, and stands first. Empty timestamps are
  // filled in if the update is a replacement.
  Result<bson::Document> upserted(const Filter& filter) const;

  // The top-level and dotted paths that operators may change, so that a store can tell which
  // indexes stay as they are; up to a `$` or `$[]`. Empty for replacements and pipelines, which may
  // change all.
  const std::vector<std::string>& touched_paths() const;

 private:
  struct State;
  explicit Update(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::query
