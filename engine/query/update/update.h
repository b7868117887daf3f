// Updates of a document. An update consists of operators ({$set: ...}), or is a replacement, or is
// a pipeline. An Update is parsed once, and applied to one document at a time. It is immutable, so
// thread-safe.
//
// Source: MongoDB manual, "Update Operators" and "Updates with Aggregation Pipeline". Conflicts and
// errors have the codes of servers (2, 9, 14, 15, 28, 34, 40, 52, 54, 55, 56, 66, 111, 224, 17419,
// 17420; for pipelines also the codes of their stages).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/filter/filter.h"

namespace gridmount::query {

// The views need not outlive Update::parse().
struct UpdateParseOptions {
  // An array of filters. The filter on `id` selects the elements that `$[id]` changes.
  bson::View array_filters = {};
  // True if the specification is an array of stages.
  bool is_pipeline = false;
  // For pipelines: the variables ($$x) as {name: value, ...}, and $$NOW, which is the same for a
  // whole command.
  bson::View variables = {};
  bson::Date now = {};
  // The order of strings in comparisons. Null: as bytes.
  SharedCollator collator = nullptr;
};

class Update {
 public:
  // Parses an update. If is_pipeline is set, `specification` must be an array of stages. Otherwise
  // it is a document of operators if its first field begins with '$', and a replacement if not.
  // Fails with FailedToParse if a replacement or a pipeline has array filters, and as
  // parse_operator_update() or PipelineUpdate::parse() do.
  static Result<Update> parse(bson::View specification, const UpdateParseOptions& options = {});

  Update(Update&&) noexcept;
  Update& operator=(Update&&) noexcept;
  ~Update();

  bool is_replacement() const;

  struct Applied {
    bson::Document document;
    // True if servers count the document as modified. False if operators change no byte of it, or
    // if the result of a replacement or pipeline is exactly the old document, with its _id at the
    // same position. But `modified` is true for each replacement, and each result of a pipeline,
    // that has no _id, even if the resulting document is the same.
    bool modified = false;
  };
  // Returns the document after the update.
  //
  // The _id cannot change. If a replacement, or the result of a pipeline, has no _id, the document
  // keeps the old one. An _id that compares equal replaces the old one (1.0 replaces 1). For any
  // other _id, fails with ImmutableField. If an operator changes the _id, fails with ImmutableField
  // even if it replaces 1 by 1.0.
  //
  // Replaces the empty timestamps of a replacement by the current time. Fails with
  // DollarPrefixedFieldName or InvalidDBRef for names that an existing document may not have at the
  // top level (the result of a pipeline may have them), with 17419 if the result exceeds
  // bson::kMaxDocumentBytes, and with Overflow (15) if it is nested deeper than
  // bson::kMaxStoredDepth.
  //
  // `matched_position` is the position of the array element that `$` changes: the result of the
  // filter's matched_position() for the document. The position is necessary only if needs_match()
  // is true. If it is missing, fails with BadValue for a `$`.
  Result<Applied> apply(bson::View document,
                        std::optional<size_t> matched_position = std::nullopt) const;
  // Returns whether a path of the update has a `$`.
  bool needs_match() const;

  // Returns the document that an upsert inserts if no document matches `filter`: the result of the
  // update on a document with the equalities of the filter (for a replacement, only with the _id).
  // The first field of the result is _id, which is a generated ObjectId if neither the filter nor
  // the update has an _id. Fails with NotSingleValueField (54) if the filter has two equalities for
  // one path, or for a path and a path below it, with NotExactValueField (111) if the filter has an
  // equality for a field inside the _id and the update is a replacement, with BadValue if the path
  // of an equality has a `$`, `$[]` or `$[id]`, and as check_update_path() does for the path of an
  // equality. Otherwise fails as apply() does, but with 17420 instead of 17419, and not for names
  // at the top level. Replaces the empty timestamps of a replacement by the current time.
  Result<bson::Document> upserted(const Filter& filter) const;

  // Returns the paths that operators may change. A store uses the paths to find the indexes that
  // stay as they are. A path ends before its first `$`, `$[]` or `$[id]`. There are no paths for a
  // replacement or a pipeline, which may change every field.
  const std::vector<std::string>& touched_paths() const;

 private:
  struct State;
  explicit Update(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::query
