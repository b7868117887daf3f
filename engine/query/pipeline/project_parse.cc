// The stages $project and $unset.

#include <optional>
#include <string>

#include "engine/query/pipeline/projection_transform.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

tl::unexpected<Error> invalid(std::string_view stage, Error error) {
  return fail(std::move(error).with_context("Invalid " + std::string(stage) + " :: caused by :"));
}

std::unique_ptr<DocumentTransform> transform_of(ProjectionTree tree) {
  return std::make_unique<ProjectionTransform>(std::move(tree));
}

// Adds a path to `tree`, which must be an exclusion.
Status exclude(std::string_view path, ProjectionTree& tree) {
  GM_ASSIGN(const bson::Path parts, split_field_path(path));
  GM_ASSIGN(ProjectionNode* const node, make_node(tree.root, parts, false));
  node->kind = ProjectionNode::Kind::kLeaf;
  return {};
}

}  // namespace

Result<std::unique_ptr<DocumentTransform>> parse_project(const StageCall& call) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode{15969}, "$project specification must be an object");
  }
  Result<ProjectionTree> tree =
      parse_projection(call.value.as_document(), {false, std::nullopt, call.scope});
  if (!tree) return invalid(call.name, std::move(tree).error());
  return transform_of(std::move(tree).value());
}

Result<std::unique_ptr<DocumentTransform>> parse_unset(const StageCall& call) {
  ProjectionTree tree;
  const auto add = [&](ValueView name) -> Status {
    if (name.type() != Type::kString) {
      return fail(ErrorCode{31120},
                  "$unset specification must be a string or an array containing only string "
                  "values");
    }
    Status added = exclude(name.as_string(), tree);
    if (!added) return invalid(call.name, std::move(added).error());
    return {};
  };
  if (call.value.type() == Type::kString) {
    GM_TRY(add(call.value));
    tree.complete();
    return transform_of(std::move(tree));
  }
  if (call.value.type() != Type::kArray) {
    return fail(ErrorCode{31002}, "$unset specification must be a string or an array");
  }
  if (call.value.as_document().empty()) {
    return fail(ErrorCode{31119},
                "$unset specification must be a string or an array with at least one field");
  }
  for (const bson::Element element : call.value.as_document()) GM_TRY(add(element.value));
  tree.complete();
  return transform_of(std::move(tree));
}

}  // namespace gridmount::query
