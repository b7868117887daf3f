#include "engine/query/update/pipeline_update.h"

#include <optional>
#include <utility>
#include <vector>

#include "engine/query/filter/variables.h"
#include "engine/query/pipeline/update_stages.h"

namespace gridmount::query {

struct PipelineUpdate::State {
  UpdateStages pipeline;
  bson::Document variables;
  std::vector<std::optional<bson::ValueView>> values;  // the values of `variables`, by slot
  bson::Date now;
  SharedCollator collator;
};

PipelineUpdate::PipelineUpdate(std::unique_ptr<State> state) : state_(std::move(state)) {}
PipelineUpdate::PipelineUpdate(PipelineUpdate&&) noexcept = default;
PipelineUpdate& PipelineUpdate::operator=(PipelineUpdate&&) noexcept = default;
PipelineUpdate::~PipelineUpdate() = default;

Result<PipelineUpdate> PipelineUpdate::parse(bson::View stages, bson::View variables,
                                             bson::Date now, const SharedCollator& collator) {
  VariableScope scope;
  scope.set_collator(collator);
  for (const bson::Element variable : variables) GM_TRY(scope.declare(variable.key));
  GM_ASSIGN(UpdateStages pipeline, UpdateStages::parse(stages, scope));
  auto state = std::make_unique<State>(
      State{std::move(pipeline), bson::Document(variables), {}, now, collator});
  // The slots are in the order of the declarations.
  for (const bson::Element variable : state->variables.view()) {
    state->values.push_back(value_of_variable(variable));
  }
  return PipelineUpdate(std::move(state));
}

Result<bson::Document> PipelineUpdate::apply(bson::View document) const {
  return state_->pipeline.apply(document, state_->values, state_->now, state_->collator.get());
}

}  // namespace gridmount::query
