#include "engine/query/pipeline/update_stages.h"

#include <string>

#include "engine/query/pipeline/document_transform.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {

Status check_stage_names(bson::View stages) {
  VariableScope scope;
  for (const bson::Element element : stages) {
    GM_ASSIGN(const StageCall call, stage_call(element.value, scope, PipelineLevel::kUpdate, 0));
    if (!is_stage(call.name)) return unknown_stage(call.name);
  }
  return {};
}

UpdateStages::UpdateStages() = default;
UpdateStages::UpdateStages(UpdateStages&&) noexcept = default;
UpdateStages& UpdateStages::operator=(UpdateStages&&) noexcept = default;
UpdateStages::~UpdateStages() = default;

Result<UpdateStages> UpdateStages::parse(bson::View stages, VariableScope& scope) {
  UpdateStages pipeline;
  for (const bson::Element element : stages) {
    GM_ASSIGN(const StageCall call, stage_call(element.value, scope, PipelineLevel::kUpdate, 0));
    if (!is_transform(call.name)) {
      if (!is_stage(call.name)) return unknown_stage(call.name);
      return fail(ErrorCode::kInvalidOptions,
                  std::string(call.name) + " is not allowed to be used within an update");
    }
    GM_TRY(check_length(pipeline.transforms_.size() + 1));
    GM_ASSIGN(std::unique_ptr<DocumentTransform> transform, parse_transform(call));
    pipeline.transforms_.push_back(std::move(transform));
  }
  pipeline.slots_ = scope.slots();
  return pipeline;
}

Result<bson::Document> UpdateStages::apply(
    bson::View document, const std::vector<std::optional<bson::ValueView>>& variables,
    bson::Date now, const bson::StringOrder* strings) const {
  std::vector<std::optional<bson::ValueView>> values = variables;
  if (values.size() < slots_) values.resize(slots_);
  TransformState state(values, now, strings);
  bson::Document result(document);
  for (const std::unique_ptr<DocumentTransform>& transform : transforms_) {
    GM_ASSIGN(const bson::View transformed, transform->apply(result, state));
    result = bson::Document(transformed);
  }
  return result;
}

}  // namespace gridmount::query
