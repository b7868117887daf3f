// An update in the form of a pipeline, [{$set: {total: {$add: ["$a", "$b"]}}}], with the values of
// its variables. Internal to engine/query. Immutable, so thread-safe.
#pragma once

#include <memory>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/collation/collator.h"

namespace gridmount::query {

class PipelineUpdate {
 public:
  // Parses a pipeline. `stages` is an array of stages. `variables` is {name: value} for `$$name`,
  // `now` is the value of $$NOW, and `collator` is the order of strings (null: as bytes). Fails
  // with FailedToParse for a name that no variable may have, and as UpdateStages::parse() does, for
  // example with InvalidOptions for a stage that an update may not use.
  static Result<PipelineUpdate> parse(bson::View stages, bson::View variables, bson::Date now,
                                      const SharedCollator& collator);

  PipelineUpdate(PipelineUpdate&&) noexcept;
  PipelineUpdate& operator=(PipelineUpdate&&) noexcept;
  ~PipelineUpdate();

  // Returns the document that the stages produce. The caller must check the document's _id and
  // size. Fails with the errors of the stages and their expressions.
  Result<bson::Document> apply(bson::View document) const;

 private:
  struct State;
  explicit PipelineUpdate(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::query
