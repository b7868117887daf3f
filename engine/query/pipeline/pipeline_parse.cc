// Parses a pipeline: parses its stages, checks where they are used, rewrites them, and makes the
// request to the source.

#include <string>

#include "engine/bson/builder.h"
#include "engine/query/pipeline/basic_stages.h"
#include "engine/query/pipeline/pipeline.h"
#include "engine/query/pipeline/pipeline_rewrite.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {

namespace {

// Sets the scope's state of text scores for one pipeline, and then restores the state of the
// pipeline around it. The documents of a pipeline have text scores if its first stage is a text
// search. The documents of a pipeline in $facet have text scores if the input of the $facet has
// them. The documents of a $unionWith keep their text scores in the pipeline around it.
class TextScoreScope {
 public:
  TextScoreScope(VariableScope& scope, PipelineLevel level, bool reads)
      : scope_(scope), had_(scope.has_text_score()), read_(scope.reads_text_score()) {
    scope_.set_has_text_score(had_ && level == PipelineLevel::kFacet);
    scope_.set_reads_text_score(reads || (read_ && level == PipelineLevel::kUnion));
  }
  ~TextScoreScope() {
    scope_.set_has_text_score(had_);
    scope_.set_reads_text_score(read_);
  }
  TextScoreScope(const TextScoreScope&) = delete;
  TextScoreScope& operator=(const TextScoreScope&) = delete;

 private:
  VariableScope& scope_;
  const bool had_;
  const bool read_;
};

}  // namespace

class PipelineParser {
 public:
  PipelineParser(VariableScope& scope, const PipelineOptions& options, PipelineLevel level,
                 int depth)
      : scope_(scope), options_(options), place_(level), depth_(depth) {}

  Result<Pipeline> parse(bson::View stages) {
    if (depth_ > kPipelineDepthMax) {
      return fail(ErrorCode{232}, "Maximum number of nested sub-pipelines exceeded. Limit is " +
                                      std::to_string(kPipelineDepthMax));
    }
    Pipeline pipeline;
    const TextScoreScope text_score(scope_, place_, mentions_text_score(stages));
    for (const bson::Element element : stages) {
      GM_ASSIGN(const StageCall call, stage_call(element.value, scope_, place_, depth_));
      const size_t before = pipeline.stages_.size();
      GM_TRY(parse_stage(call, pipeline.stages_));
      for (size_t i = before; i < pipeline.stages_.size(); ++i) {
        GM_TRY(check_level(*pipeline.stages_[i]));
      }
      GM_TRY(check_length(pipeline.stages_.size()));
    }
    GM_TRY(check_collection(pipeline.stages_));
    GM_TRY(check_positions(pipeline.stages_));
    rewrite_stages(pipeline.stages_);
    plan(pipeline);
    pipeline.request_.text_score = scope_.has_text_score() && scope_.reads_text_score();
    return pipeline;
  }

 private:
  Status check_level(const Stage& stage) const {
    const std::string name(stage.name());
    const bool writes = stage.target().has_value();
    switch (place_) {
      case PipelineLevel::kFacet:
        if (!writes && !stage.is_source() && name != "$facet") return {};
        return fail(ErrorCode{40600}, name + " is not allowed to be used within a $facet stage");
      case PipelineLevel::kLookup:
        if (!writes) return {};
        return fail(ErrorCode{51047}, name + " is not allowed within a $lookup's sub-pipeline");
      case PipelineLevel::kUnion:
        if (!writes) return {};
        return fail(ErrorCode{31441}, name + " is not allowed within a $unionWith's sub-pipeline");
      default:
        if (!writes || options_.may_write) return {};
        return fail(ErrorCode::kIllegalOperation, name + " is not allowed in this pipeline");
    }
  }

  Status check_collection(const ParsedStages& stages) const {
    if (stages.empty()) {
      if (options_.over_collection) return {};
      return fail(ErrorCode::kInvalidNamespace,
                  "{aggregate: 1} is not valid for an empty pipeline.");
    }
    const Stage& first = *stages.front();
    if (first.is_collectionless() == !options_.over_collection) return {};
    if (options_.over_collection) {
      return fail(ErrorCode::kInvalidNamespace,
                  "'" + std::string(first.name()) + "' can only be run with {aggregate: 1}");
    }
    return fail(ErrorCode::kInvalidNamespace, "{aggregate: 1} is not valid for '" +
                                                  std::string(first.name()) +
                                                  "'; a collection is required.");
  }

  static Status check_positions(const ParsedStages& stages) {
    for (size_t i = 0; i < stages.size(); ++i) {
      const std::string name(stages[i]->name());
      if (stages[i]->is_source() && i > 0) {
        return fail(ErrorCode{40602}, name + " is only valid as the first stage in a pipeline");
      }
      if (stages[i]->target() && i + 1 < stages.size()) {
        return fail(ErrorCode{40601}, name + " can only be the final stage in the pipeline");
      }
    }
    return {};
  }

  void plan(Pipeline& pipeline) const {
    FieldDependencies needs = FieldDependencies::all();
    for (size_t i = pipeline.stages_.size(); i > 0; --i) pipeline.stages_[i - 1]->plan(needs);
    for (const auto& stage : pipeline.stages_) stage->add_collections(pipeline.other_collections_);
    pipeline.slots_ = scope_.slots();
    pipeline.request_ =
        request_of(pipeline.stages_, pipeline.filter_stages_, pipeline.request_stages_);
    pipeline.request_.fields = needs.outer_paths();
  }

  VariableScope& scope_;
  const PipelineOptions options_;
  const PipelineLevel place_;
  const int depth_;
};

Result<Pipeline> Pipeline::parse(bson::View stages, VariableScope& scope,
                                 const PipelineOptions& options) {
  return PipelineParser(scope, options, PipelineLevel::kTopLevel, 0).parse(stages);
}

Result<Pipeline> parse_sub_pipeline(bson::ValueView value, const StageCall& call,
                                    PipelineLevel level, bool over_collection) {
  PipelineOptions options;
  options.over_collection = over_collection;
  return PipelineParser(call.scope, options, level, call.depth + 1).parse(value.as_document());
}

}  // namespace gridmount::query
