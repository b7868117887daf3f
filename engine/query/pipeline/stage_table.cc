#include "engine/query/pipeline/stage_table.h"

#include <string>
#include <utility>

#include "engine/query/pipeline/basic_stages.h"
#include "engine/query/pipeline/document_transform.h"

namespace gridmount::query {
namespace {

constexpr size_t kStagesMax = 1000;

// $project and the other stages that turn each document into one document.
class TransformStage : public Stage {
 public:
  TransformStage(std::string_view name, std::unique_ptr<DocumentTransform> transform)
      : name_(name), transform_(std::move(transform)) {}

  std::string_view name() const override { return name_; }
  Result<Stream> open(Stream input, const PipelineContext& context) const override;
  void plan(FieldDependencies& needs) override { transform_->plan(needs); }

 private:
  std::string name_;
  std::unique_ptr<DocumentTransform> transform_;
};

class TransformStream : public DocumentStream {
 public:
  TransformStream(const DocumentTransform& transform, Stream input, const PipelineContext& context)
      : transform_(transform),
        input_(std::move(input)),
        state_(context.variables, context.now, context.collator.get()) {}

  Result<std::optional<bson::View>> next() override {
    Result<std::optional<bson::View>> document = input_->next();
    if (!document || !*document) return document;
    state_.text_score = input_->text_score();
    GM_ASSIGN(const bson::View result, transform_.apply(**document, state_));
    return result;
  }
  std::optional<double> text_score() const override { return input_->text_score(); }

 private:
  const DocumentTransform& transform_;
  Stream input_;
  TransformState state_;
};

Result<Stream> TransformStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<TransformStream>(*transform_, std::move(input), context);
}

Status parse_transform_stage(const StageCall& call, ParsedStages& stages) {
  GM_ASSIGN(std::unique_ptr<DocumentTransform> transform, parse_transform(call));
  stages.push_back(std::make_unique<TransformStage>(call.name, std::move(transform)));
  return {};
}

Status refuse_change_stream(const StageCall&, ParsedStages&) {
  return fail(ErrorCode{40573}, "The $changeStream stage is only supported on replica sets");
}

constexpr std::pair<std::string_view, ParseStage> kStages[] = {
    {"$addFields", parse_transform_stage},
    {"$bucket", parse_bucket},
    {"$bucketAuto", parse_bucket_auto},
    {"$changeStream", refuse_change_stream},
    {"$collStats", parse_coll_stats},
    {"$count", parse_count},
    {"$densify", parse_densify},
    {"$documents", parse_documents},
    {"$facet", parse_facet},
    {"$fill", parse_fill},
    {"$graphLookup", parse_graph_lookup},
    {"$group", parse_group},
    {"$indexStats", parse_index_stats},
    {"$limit", parse_limit},
    {"$lookup", parse_lookup},
    {"$match", parse_match},
    {"$merge", parse_merge},
    {"$out", parse_out},
    {"$project", parse_transform_stage},
    {"$redact", parse_redact},
    {"$replaceRoot", parse_transform_stage},
    {"$replaceWith", parse_transform_stage},
    {"$sample", parse_sample},
    {"$set", parse_transform_stage},
    {"$setWindowFields", parse_set_window_fields},
    {"$skip", parse_skip},
    {"$sort", parse_sort},
    {"$sortByCount", parse_sort_by_count},
    {"$unionWith", parse_union_with},
    {"$unset", parse_transform_stage},
    {"$unwind", parse_unwind},
};

}  // namespace

bool is_stage(std::string_view name) {
  for (const auto& [known, parse] : kStages) {
    if (known == name) return true;
  }
  return false;
}

tl::unexpected<Error> unknown_stage(std::string_view name) {
  return fail(ErrorCode{40324}, "Unrecognized pipeline stage name: '" + std::string(name) + "'");
}

Status parse_stage(const StageCall& call, ParsedStages& stages) {
  for (const auto& [known, parse] : kStages) {
    if (known == call.name) return parse(call, stages);
  }
  return unknown_stage(call.name);
}

Result<StageCall> stage_call(bson::ValueView element, VariableScope& scope, PipelineLevel level,
                             int depth) {
  if (element.type() != bson::Type::kDocument) {
    return fail(ErrorCode::kTypeMismatch, "Each element of the 'pipeline' array must be an object");
  }
  const bson::View document = element.as_document();
  auto field = document.begin();
  if (field != document.end()) {
    const bson::Element stage = *field;
    if (++field == document.end()) return StageCall{stage.key, stage.value, scope, level, depth};
  }
  return fail(ErrorCode{40323},
              "A pipeline stage specification object must contain exactly one field.");
}

Status check_length(size_t stages) {
  if (stages <= kStagesMax) return {};
  return fail(ErrorCode{7749501},
              "Pipeline length must be no longer than " + std::to_string(kStagesMax) + " stages");
}

}  // namespace gridmount::query
