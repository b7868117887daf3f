// An update in the form of a pipeline: [{$set: {total: {$add: ["$a", "$b"]}}}]. Only stages that
// turn one document into one document are allowed: $addFields, $set, $project, $unset, $replaceRoot
// and $replaceWith. Immutable once parsed, so safe to share between threads.
//
// Source: MongoDB manual, "Updates with Aggregation Pipeline".
#pragma once

#include <memory>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/expression/expression.h"

namespace gridmount::query {

class DocumentTransform;

// Checks what servers check before they run any update of a command: each stage must be a document
// with one field (14, 40323) that names a stage (40324).
Status check_stage_names(bson::View stages);

class UpdateStages {
 public:
  // `stages` holds the elements of an array. Fails with InvalidOptions (72) for a stage that an
  // update may not use, and with 40324 for an unknown stage. `scope` holds the variables of the
  // update's `let`.
  static Result<UpdateStages> parse(bson::View stages, VariableScope& scope);

  UpdateStages(UpdateStages&&) noexcept;
  UpdateStages& operator=(UpdateStages&&) noexcept;
  ~UpdateStages();

  // Returns the updated document. `variables` are by slot, and those of `let` must be set. The
  // caller must check whether the _id changed, and the size of the document.
  Result<bson::Document> apply(bson::View document,
                               const std::vector<std::optional<bson::ValueView>>& variables,
                               bson::Date now) const;

 private:
  UpdateStages();

  std::vector<std::unique_ptr<DocumentTransform>> transforms_;
  size_t slots_ = 0;
};

}  // namespace gridmount::query
