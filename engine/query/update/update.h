// Updates by operators ({$set: ...}), by a replacement or by a pipeline, applied to one document at
// a time. An Update is a pure function over BSON views, immutable once parsed, and so safe to share
// between threads.
//
// Source: MongoDB manual, "Update Operators" and "Updates with Aggregation Pipeline". Conflicts and
// errors are the server's (codes 2, 9, 14, 28, 34, 40, 52, 54, 55, 56, 66, 111).
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
  // Conditions that select the elements for which `$[id]` stands.
  bson::View array_filters = {};
  // The specification is an array of stages.
  bool is_pipeline = false;
  // For pipelines: the values of variables ($$x) by name, and $$NOW, the same for a whole command.
  bson::View variables = {};
  bson::Date now = {};
};

class Update {
 public:
  // `specification` consists of operators only, or has no operators and is a replacement, or is an
  // array of stages. Fails with FailedToParse "Unknown modifier: $x" for an unknown operator.
  static Result<Update> parse(bson::View specification, const UpdateParseOptions& options = {});

  Update(Update&&) noexcept;
  Update& operator=(Update&&) noexcept;
  ~Update();

  bool is_replacement() const;

  struct Applied {
    bson::Document document;
    // True if the document counts as modified, as on servers. False if operators leave every byte
    // as it was, or if a replacement or pipeline returns exactly the document, including the
    // position of its _id. True for a replacement without an _id, even if the resulting document is
    // the same.
    bool modified = false;
  };
  // Returns the document after the update.
  //
  // The _id cannot change. A replacement without an _id keeps the old one, and so does a pipeline
  // whose result has none. An _id that compares equal replaces the old one (1.0 replaces 1). Any
  // other _id fails with ImmutableField. An operator may not even replace 1 by 1.0.
  //
  // The empty timestamps of a replacement are filled in. Fails with DollarPrefixedFieldName or
  // InvalidDBRef for names that an existing document may not have at the top level, and with 17419
  // if the result exceeds bson::kMaxDocumentBytes.
  //
  // `matched_position` is the array element that `$` stands for: the filter's matched_position()
  // for the document. It is needed only if needs_match(). Without it, `$` fails with BadValue.
  Result<Applied> apply(bson::View document,
                        std::optional<size_t> matched_position = std::nullopt) const;
  bool needs_match() const;

  // Returns the document that an upsert inserts if no document matches `filter`: the equalities of
  // the filter, with the update applied. Its first field is _id, a generated ObjectId if neither
  // the filter nor the update has an _id. The empty timestamps of a replacement are filled in.
  Result<bson::Document> upserted(const Filter& filter) const;

  // Returns the paths that operators may change, so that a store knows which indexes stay
  // unchanged. A path ends before its first `$` or `$[]`. Empty for replacements and pipelines,
  // which may change everything.
  const std::vector<std::string>& touched_paths() const;

 private:
  struct State;
  explicit Update(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::query
