// Stages that make one document of each: $project, $addFields, $unset, $replaceRoot and their other
// names. They are what an update may consist of as well. Internal to this folder.
#pragma once

#include <memory>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/pipeline/stage.h"
#include "engine/query/projection/transform_state.h"

namespace gridmount::query {

class DocumentTransform {
 public:
  virtual ~DocumentTransform() = default;
  // Valid as long as the document and until the next call with this state.
  virtual Result<bson::View> apply(bson::View document, TransformState& state) const = 0;
  // As Stage's.
  virtual void plan(Needs& needs) = 0;
};

// By the stage's name. Nothing if it is no such stage.
Result<std::unique_ptr<DocumentTransform>> parse_transform(const StageCall& call);
bool is_transform(std::string_view stage_name);

// --- Its kinds.
Result<std::unique_ptr<DocumentTransform>> parse_project(const StageCall& call);
Result<std::unique_ptr<DocumentTransform>> parse_add_fields(const StageCall& call);
Result<std::unique_ptr<DocumentTransform>> parse_unset(const StageCall& call);
Result<std::unique_ptr<DocumentTransform>> parse_replace_root(const StageCall& call);
Result<std::unique_ptr<DocumentTransform>> parse_replace_with(const StageCall& call);

}  // namespace gridmount::query
