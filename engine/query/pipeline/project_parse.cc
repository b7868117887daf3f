// $project and $unset.

#include <optional>
#include <string>

#include "engine/query/pipeline/projection_tree.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using Kind = ProjectionTree::Kind;

constexpr ErrorCode kExpressionInExclusion{31252};
constexpr ErrorCode kInclusionInExclusion{31253};
constexpr ErrorCode kExclusionInInclusion{31254};
constexpr ErrorCode kLiteralInExclusion{31310};
constexpr ErrorCode kPositional{31324};
constexpr ErrorCode kUnknownExpression{31325};
constexpr ErrorCode kEmptySubProjection{51270};
constexpr ErrorCode kEmptyProjection{51272};
constexpr int kDepthMax = static_cast<int>(bson::kMaxDepth);

bool has_positional_operator(std::string_view path) {
  return path == "$" || path.ends_with(".$") || path.find(".$.") != std::string_view::npos;
}

class ProjectParser {
 public:
  explicit ProjectParser(VariableScope& scope)
      : scope_(scope), tree_(std::make_unique<ProjectionTree>(Kind::kExclude)) {}

  Result<std::unique_ptr<DocumentTransform>> parse(bson::View specification) {
    if (specification.empty()) {
      return fail(kEmptyProjection, "projection specification must have at least one field");
    }
    GM_TRY(add_all("", specification, 0));
    // {_id: 1} alone is an inclusion, {_id: 0} an exclusion.
    const Kind kind = kind_.value_or(id_.value_or(false) ? Kind::kInclude : Kind::kExclude);
    tree_->set_kind(kind);
    if (kind == Kind::kInclude) {
      if (id_ == false) tree_->remove_field("_id");
      if (!tree_->has_field("_id") && !id_) GM_TRY(tree_->add_leaf("_id", "_id"));
    } else if (id_ == true) {
      tree_->remove_field("_id");
    }
    return std::move(tree_);
  }

 private:
  Status add_all(const std::string& prefix, bson::View specification, int depth) {
    if (depth > kDepthMax) {
      return fail(ErrorCode::kOverflow, "the projection is nested too deep");
    }
    for (const bson::Element element : specification) {
      GM_TRY(add(prefix + std::string(element.key), element, depth));
    }
    return {};
  }

  Status add(const std::string& path, const bson::Element& element, int depth) {
    if (has_positional_operator(element.key)) {
      return fail(kPositional, "Cannot use positional projection in aggregation projection");
    }
    GM_TRY(check_field_path(element.key));
    const ValueView value = element.value;
    if (value.type() == Type::kDocument) return add_document(path, value, depth);
    if (value.is_number() || value.type() == Type::kBool) {
      const bool include = value.type() == Type::kBool ? value.as_bool() : value.number() != 0.0;
      return add_leaf(path, include);
    }
    if (kind_ == Kind::kExclude) {
      return fail(kLiteralInExclusion, "Cannot use an expression " + path + ": " + shown(value) +
                                           " in an exclusion projection");
    }
    return add_expression(path, value);
  }

  Status add_document(const std::string& path, ValueView value, int depth) {
    const bson::View document = value.as_document();
    if (document.empty()) {
      return fail(
          kEmptySubProjection,
          "An empty sub-projection is not a valid value. Found empty object at path " + path);
    }
    const auto first = document.begin();
    const std::string_view name = (*first).key;
    const bool alone = ++bson::View::Iterator(first) == document.end();
    if (!name.starts_with('$') || !alone) return add_all(path + ".", document, depth + 1);
    if (name == "$elemMatch") {
      return fail(ErrorCode{168}, "Cannot use $elemMatch in this context");
    }
    if (kind_ == Kind::kExclude) {
      return fail(kExpressionInExclusion,
                  "Cannot use expression other than $meta in exclusion projection");
    }
    return add_expression(path, value);
  }

  Status add_expression(const std::string& path, ValueView value) {
    Result<std::unique_ptr<Expression>> expression = parse_expression(value, scope_);
    if (!expression) {
      // Here the server has words of its own for an operator it does not know.
      const bool unknown =
          expression.error().code() == ErrorCode{168} && value.type() == Type::kDocument &&
          expression.error().message() ==
              "Unrecognized expression '" + std::string((*value.as_document().begin()).key) + "'";
      if (!unknown) return fail(std::move(expression).error());
      return fail(kUnknownExpression,
                  "Unknown expression " + std::string((*value.as_document().begin()).key));
    }
    GM_TRY(tree_->add_computed(path, path, *std::move(expression)));
    kind_ = Kind::kInclude;
    return {};
  }

  Status add_leaf(const std::string& path, bool include) {
    GM_TRY(tree_->add_leaf(path, path));
    if (path == "_id") {
      id_ = include;
      return {};
    }
    const Kind kind = include ? Kind::kInclude : Kind::kExclude;
    if (kind_.value_or(kind) != kind) {
      return include ? fail(kInclusionInExclusion,
                            "Cannot do inclusion on field " + path + " in exclusion projection")
                     : fail(kExclusionInInclusion,
                            "Cannot do exclusion on field " + path + " in inclusion projection");
    }
    kind_ = kind;
    return {};
  }

  VariableScope& scope_;
  std::unique_ptr<ProjectionTree> tree_;
  std::optional<Kind> kind_;
  std::optional<bool> id_;
};

tl::unexpected<Error> invalid(std::string_view stage, Error error) {
  return fail(std::move(error).with_context("Invalid " + std::string(stage) + " :: caused by :"));
}

}  // namespace

Result<std::unique_ptr<DocumentTransform>> parse_project(const StageCall& call) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode{15969}, "$project specification must be an object");
  }
  Result<std::unique_ptr<DocumentTransform>> tree =
      ProjectParser(call.scope).parse(call.value.as_document());
  if (!tree) return invalid(call.name, std::move(tree).error());
  return tree;
}

Result<std::unique_ptr<DocumentTransform>> parse_unset(const StageCall& call) {
  auto tree = std::make_unique<ProjectionTree>(Kind::kExclude);
  const auto exclude = [&](ValueView name) -> Status {
    if (name.type() != Type::kString) {
      return fail(ErrorCode{31120},
                  "$unset specification must be a string or an array containing only string "
                  "values");
    }
    const std::string path(name.as_string());
    Status added = check_field_path(path);
    if (added) added = tree->add_leaf(path, path);
    if (!added) return invalid(call.name, std::move(added).error());
    return {};
  };
  if (call.value.type() == Type::kString) {
    GM_TRY(exclude(call.value));
    return tree;
  }
  if (call.value.type() != Type::kArray) {
    return fail(ErrorCode{31002}, "$unset specification must be a string or an array");
  }
  if (call.value.as_document().empty()) {
    return fail(ErrorCode{31119},
                "$unset specification must be a string or an array with at least one field");
  }
  for (const bson::Element element : call.value.as_document()) GM_TRY(exclude(element.value));
  return tree;
}

}  // namespace gridmount::query
