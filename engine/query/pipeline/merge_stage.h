// The stage $merge writes each document of its input to a collection. If the collection already has
// a document with the same values in the `on` fields, MergeOptions::when_matched says what happens.
// Internal to engine/query. A parsed stage is immutable, so several threads may run it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/bson/dotted_path.h"
#include "engine/query/pipeline/stage.h"
#include "engine/query/pipeline/update_stages.h"

namespace gridmount::query {

struct MergeOptions {
  enum class WhenMatched { kReplace, kKeepExisting, kMerge, kFail, kPipeline };
  enum class WhenNotMatched { kInsert, kDiscard, kFail };
  struct Variable {
    size_t slot;
    std::unique_ptr<Expression> value;
  };

  CollectionName into;
  std::vector<bson::Path> on;
  bool names_on = false;  // `on` was given, even if it is only the _id
  WhenMatched when_matched = WhenMatched::kMerge;
  WhenNotMatched when_not_matched = WhenNotMatched::kInsert;
  std::vector<Variable> variables;       // the variables of `let`, which `pipeline` may use
  std::optional<UpdateStages> pipeline;  // with kPipeline: the pipeline in `whenMatched`
};

class MergeStage : public Stage {
 public:
  explicit MergeStage(MergeOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "$merge"; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override { needs.add_all(); }
  std::optional<CollectionName> target() const override { return options_.into; }

 private:
  MergeOptions options_;
};

}  // namespace gridmount::query
