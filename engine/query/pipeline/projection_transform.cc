#include "engine/query/pipeline/projection_transform.h"

#include <utility>

namespace gridmount::query {
namespace {

using Kind = ProjectionNode::Kind;

void add_expressions(const ProjectionNode& node, FieldDependencies& needs) {
  if (node.expression != nullptr) needs.add(*node.expression);
  for (const ProjectionNode& child : node.children) add_expressions(child, needs);
}

void plan_below(const ProjectionNode& node, const std::string& prefix, FieldDependencies& needs) {
  for (const ProjectionNode& child : node.children) {
    const std::string path = prefix + child.name;
    if (child.kind == Kind::kInner) {
      plan_below(child, path + ".", needs);
      // The value at the path decides where a computed field goes, so it is needed.
      if (child.computes) needs.add(path);
    } else if (child.kind == Kind::kLeaf) {
      needs.add(path);
    }
  }
}

}  // namespace

Result<bson::View> ProjectionTransform::apply(bson::View document, TransformState& state) const {
  return apply_projection(tree_, document, state, wanted_.is_all() ? nullptr : &wanted_);
}

void ProjectionTransform::plan_included(const FieldDependencies& wanted,
                                        FieldDependencies& needs) const {
  for (const ProjectionNode& child : tree_.root.children) {
    if (!child.written) continue;
    if (child.kind == Kind::kInner) {
      plan_below(child, child.name + ".", needs);
      if (child.computes) needs.add(child.name);
    } else if (child.kind == Kind::kLeaf) {
      // If only paths below an included field are needed, only these are read.
      bool below = false;
      for (const std::string& path : wanted.paths()) {
        if (!path.starts_with(child.name + ".")) continue;
        needs.add(path);
        below = true;
      }
      if (!below || wanted.paths().contains(child.name)) needs.add(child.name);
    }
  }
}

void ProjectionTransform::plan_removed(FieldDependencies& needs) const {
  for (const ProjectionNode& child : tree_.root.children) {
    if (child.kind != Kind::kInner) {
      child.computes ? needs.replace(child.name) : needs.remove(child.name);
    } else if (child.computes && needs.has_field(child.name)) {
      // The computed value goes into the existing field, so the whole field is needed. For an
      // exclusion below the field, the needs stay as they are, because the result shows whether the
      // field exists.
      needs.add(child.name);
    }
  }
}

void ProjectionTransform::plan(FieldDependencies& needs) {
  wanted_ = needs;
  for (ProjectionNode& child : tree_.root.children) child.written = needs.has_field(child.name);
  if (tree_.kind == ProjectionTree::Kind::kInclude) {
    // A part of the document is enough. Fields that are left out do not affect the rest.
    needs.clear(wanted_.is_ordered());
    plan_included(wanted_, needs);
  } else {
    plan_removed(needs);
  }
  add_expressions(tree_.root, needs);
}

}  // namespace gridmount::query
