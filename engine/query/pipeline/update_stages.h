// An update that is a pipeline: [{$set: {total: {$add: ["$a", "$b"]}}}]. It may have only the
// stages that make one document from one document: $addFields, $set, $project, $unset, $replaceRoot
// and $replaceWith. A parsed UpdateStages is immutable, so thread-safe.
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

// Makes the checks whose errors fail a whole update command, and not only one of its statements:
// each stage must be a document with one field (14, 40323), whose name is that of a stage (40324).
Status check_stage_names(bson::View stages);

class UpdateStages {
 public:
  // Parses the pipeline. `stages` has the stages as the elements of an array. `scope` has the
  // variables of the update's `let`. Fails with InvalidOptions (72) for a stage that is not allowed
  // in an update, with 40324 for an unknown stage, with TypeMismatch (14) or 40323 for an element
  // that is not a document with one field, with 7749501 for more than 1000 stages, and with the
  // codes of the stages.
  static Result<UpdateStages> parse(bson::View stages, VariableScope& scope);

  UpdateStages(UpdateStages&&) noexcept;
  UpdateStages& operator=(UpdateStages&&) noexcept;
  ~UpdateStages();

  // Returns the updated document. `variables` has the value of each variable of `let` at the
  // position of its slot, and `strings` is the order of strings. The caller must check whether the
  // _id has changed, and must check the size of the document. Fails with the errors of the stages.
  Result<bson::Document> apply(bson::View document,
                               const std::vector<std::optional<bson::ValueView>>& variables,
                               bson::Date now, const bson::StringOrder* strings) const;

 private:
  UpdateStages();

  std::vector<std::unique_ptr<DocumentTransform>> transforms_;
  size_t slots_ = 0;
};

}  // namespace gridmount::query
