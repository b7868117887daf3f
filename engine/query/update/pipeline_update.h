// An update given as a pipeline, [{$set: {total: {$add: ["$a", "$b"]}}}], with the variables it may
// name. Internal to this folder.
#pragma once

#include <memory>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::query {

class PipelineUpdate {
 public:
  // `stages` are an array's elements, `variables` the values of $$x by name, `now` is $$NOW.
  // InvalidOptions for a stage that may not be part of an update.
  static Result<PipelineUpdate> parse(bson::View stages, bson::View variables, bson::Date now);

  PipelineUpdate(PipelineUpdate&&) noexcept;
  PipelineUpdate& operator=(PipelineUpdate&&) noexcept;
  ~PipelineUpdate();

  // What the stages make of the document. Its _id and its size are the caller's to check.
  Result<bson::Document> apply(bson::View document) const;

 private:
  struct State;
  explicit PipelineUpdate(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::query
