// The transform of $project, $unset and $addFields. Internal to engine/query. Immutable after
// plan(), so several threads may apply it.
#pragma once

#include <string>

#include "engine/query/pipeline/document_transform.h"
#include "engine/query/projection/projection_tree.h"

namespace gridmount::query {

class ProjectionTransform : public DocumentTransform {
 public:
  // ProjectionTree::complete() must have been called for `tree`.
  explicit ProjectionTransform(ProjectionTree tree) : tree_(std::move(tree)) {}

  Result<bson::View> apply(bson::View document, TransformState& state) const override;
  void plan(FieldDependencies& needs) override;

 private:
  void plan_included(const FieldDependencies& wanted, FieldDependencies& needs) const;
  void plan_removed(FieldDependencies& needs) const;

  ProjectionTree tree_;
  FieldDependencies wanted_ = FieldDependencies::all();  // top-level fields that are needed
};

}  // namespace gridmount::query
