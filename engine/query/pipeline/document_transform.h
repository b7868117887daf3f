// Stages that make one document from each document: $project, $addFields, $unset, $replaceRoot and
// their aliases. The pipeline of an update may have only these stages. Internal to engine/query.
//
// Thread-safety: a transform is immutable after plan(). Several threads may apply it, each with its
// own TransformState.
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
  // Returns the new document. It is valid until the next call with this state, but not longer than
  // `document`.
  virtual Result<bson::View> apply(bson::View document, TransformState& state) const = 0;
  // See Stage::plan().
  virtual void plan(FieldDependencies& needs) = 0;
};

// Parses a stage. is_transform() must be true for its name: other stages fail with InternalError.
Result<std::unique_ptr<DocumentTransform>> parse_transform(const StageCall& call);
bool is_transform(std::string_view stage_name);

// --- The kinds of transforms.
Result<std::unique_ptr<DocumentTransform>> parse_project(const StageCall& call);
Result<std::unique_ptr<DocumentTransform>> parse_add_fields(const StageCall& call);
Result<std::unique_ptr<DocumentTransform>> parse_unset(const StageCall& call);
Result<std::unique_ptr<DocumentTransform>> parse_replace_root(const StageCall& call);
Result<std::unique_ptr<DocumentTransform>> parse_replace_with(const StageCall& call);

}  // namespace gridmount::query
