// An update given as a pipeline: [{$set: {total: {$add: ["$a", "$b"]}}}]. Only stages that turn one
// document into one: $addFields, $set, $project, $unset, $replaceRoot, $replaceWith.
// Source: MongoDB manual, "Updates with Aggregation Pipeline".
#pragma once

#include <memory>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/expression/expression.h"

namespace gridmount::query {

class DocumentTransform;

// What servers look at before they run any update of a command: that each stage is a document of
// one field (14, 40323) that names a stage (40324).
Status check_stage_names(bson::View stages);

class UpdatePipeline {
 public:
  // `stages` are an array's elements. InvalidOptions (72) for a stage that may not be used here,
  // 40324 for one that is not known. `scope` holds the variables of the update's `let`.
  static Result<UpdatePipeline> parse(bson::View stages, VariableScope& scope);

  UpdatePipeline(UpdatePipeline&&) noexcept;
  UpdatePipeline& operator=(UpdatePipeline&&) noexcept;
  ~UpdatePipeline();

  // What becomes of the document. `variables` by slot; those of `let` are filled. Whether the _id
  // changed is the caller's to check, also the size of what is stored.
  Result<bson::Document> apply(bson::View document,
                               const std::vector<std::optional<bson::ValueView>>& variables,
                               bson::Date now) const;

 private:
  UpdatePipeline();

  std::vector<std::unique_ptr<DocumentTransform>> transforms_;
  size_t slots_ = 0;
};

}  // namespace gridmount::query
