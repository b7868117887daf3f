// The stage $addFields and its alias $set.

#include <set>
#include <string>

#include "engine/query/pipeline/projection_transform.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr ErrorCode kConflictingPaths{40176};
constexpr ErrorCode kExpressionWithFields{40181};
constexpr ErrorCode kDottedInSubObject{40183};
constexpr int kDepthMax = static_cast<int>(bson::kMaxDepth);

class AddFieldsParser {
 public:
  AddFieldsParser(VariableScope& scope, ValueView specification)
      : scope_(scope), specification_(specification) {}

  Result<std::unique_ptr<DocumentTransform>> parse() {
    for (const bson::Element element : specification_.as_document()) {
      GM_TRY(check_field_path(element.key));
      GM_TRY(add(std::string(element.key), element.value, 0));
    }
    tree_.kind = ProjectionTree::Kind::kAdd;
    tree_.complete();
    return std::make_unique<ProjectionTransform>(std::move(tree_));
  }

 private:
  Status add(const std::string& path, ValueView value, int depth) {
    if (depth > kDepthMax) return fail(ErrorCode::kOverflow, "the fields are nested too deeply");
    if (value.type() != Type::kDocument || value.as_document().empty()) {
      return add_expression(path, value);
    }
    const bson::View document = value.as_document();
    size_t fields = 0;
    bool has_operator = false;
    for (const bson::Element element : document) {
      ++fields;
      has_operator = has_operator || element.key.starts_with('$');
    }
    if (has_operator && fields != 1) {
      return fail(kExpressionWithFields,
                  "an expression specification must contain exactly one field, the name of the "
                  "expression. Found " +
                      std::to_string(fields) + " fields in " + shown(value) +
                      ", while parsing object " + shown(specification_));
    }
    if (has_operator) return add_expression(path, value);
    for (const bson::Element element : document) {
      if (element.key.find('.') != std::string_view::npos) {
        return fail(kDottedInSubObject, "cannot use dotted field name '" +
                                            std::string(element.key) +
                                            "' in a sub object: " + shown(specification_));
      }
      GM_TRY(check_field_path(element.key));
      GM_TRY(add(path + "." + std::string(element.key), element.value, depth + 1));
    }
    return {};
  }

  Status add_expression(const std::string& path, ValueView value) {
    if (!paths_.insert(path).second) return conflict(path, path);
    // Paths that begin with `path` and a dot follow it in the set, but not always directly.
    for (auto at = paths_.lower_bound(path + ".");
         at != paths_.end() && at->starts_with(path + "."); ++at) {
      return conflict(path, *at);
    }
    for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
      if (paths_.contains(path.substr(0, dot))) return conflict(path, path.substr(0, dot));
    }
    GM_ASSIGN(std::unique_ptr<Expression> expression, parse_expression(value, scope_));
    GM_ASSIGN(ProjectionNode* const node, make_node(tree_.root, bson::Path(path), false));
    node->kind = ProjectionNode::Kind::kComputed;
    node->expression = std::move(expression);
    return {};
  }

  Status conflict(const std::string& path, const std::string& other) const {
    return fail(kConflictingPaths,
                "specification contains two conflicting paths. Cannot specify both '" + path +
                    "' and '" + other + "': " + shown(specification_));
  }

  VariableScope& scope_;
  const ValueView specification_;
  ProjectionTree tree_;
  std::set<std::string> paths_;
};

}  // namespace

Result<std::unique_ptr<DocumentTransform>> parse_add_fields(const StageCall& call) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode{40272}, std::string(call.name) +
                                      " specification stage must be an object, got " +
                                      type_name(call.value));
  }
  Result<std::unique_ptr<DocumentTransform>> tree = AddFieldsParser(call.scope, call.value).parse();
  if (!tree) {
    return fail(std::move(tree).error().with_context("Invalid " + std::string(call.name) +
                                                     " :: caused by :"));
  }
  return tree;
}

}  // namespace gridmount::query
