// Parses a projection document to the tree of projection_tree.h.

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/bson/builder.h"
#include "engine/bson/text.h"
#include "engine/query/field_path.h"
#include "engine/query/projection/projection_tree.h"

namespace gridmount::query {
namespace {

using bson::Element;
using bson::Type;
using bson::ValueView;
using Kind = ProjectionNode::Kind;
using TreeKind = ProjectionTree::Kind;

constexpr ErrorCode kComputedInExclusion{31252};
constexpr ErrorCode kInclusionInExclusion{31253};
constexpr ErrorCode kExclusionInInclusion{31254};
constexpr ErrorCode kElementMatchBesidePositional{31255};
constexpr ErrorCode kPositionalBesideElementMatch{31256};
constexpr ErrorCode kSliceSkipNoNumber{31257};
constexpr ErrorCode kSliceLimitNoNumber{31258};
constexpr ErrorCode kSliceLimitNotPositive{31259};
constexpr ErrorCode kPositionalDocument{31271};
constexpr ErrorCode kSliceArrayLength{31272};
constexpr ErrorCode kSliceType{31273};
constexpr ErrorCode kElementMatchType{31274};
constexpr ErrorCode kElementMatchNested{31275};
constexpr ErrorCode kPositionalTwice{31276};
constexpr ErrorCode kPositionalLiteral{31308};
constexpr ErrorCode kLiteralInExclusion{31310};
constexpr ErrorCode kPositionalInStage{31324};
constexpr ErrorCode kUnknownExpression{31325};
constexpr ErrorCode kPositionalWithin{31394};
constexpr ErrorCode kPositionalExclusion{31395};
constexpr ErrorCode kPositionalWithoutFilter{51050};
constexpr ErrorCode kEmptySubProjection{51270};
constexpr ErrorCode kEmptyProjection{51272};
constexpr ErrorCode kPositionalAlone{5392900};

Result<bson::Path> parse_path(std::string_view dotted, size_t depth) {
  GM_ASSIGN(bson::Path path, split_field_path(dotted));
  if (depth + path.parts().size() > bson::kMaxDepth) {
    return fail(ErrorCode::kOverflow, "FieldPath is too long");
  }
  return path;
}

// Converts any number to an int32 as servers do: cuts the fraction off and clamps to the range.
int32_t to_int32(ValueView value) {
  const double number = *value.number();
  if (std::isnan(number)) return 0;
  constexpr double kMax = std::numeric_limits<int32_t>::max();
  constexpr double kMin = std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(std::clamp(number, kMin, kMax));
}

Result<ArraySlice> parse_slice(ValueView value) {
  if (value.is_number()) return ArraySlice{std::nullopt, to_int32(value)};
  if (value.type() != Type::kArray) {
    return fail(kSliceType, "$slice only supports numbers and [skip, limit] arrays");
  }
  std::vector<ValueView> arguments;
  for (const Element element : value.as_document()) arguments.push_back(element.value);
  if (arguments.size() != 2) {
    return fail(kSliceArrayLength, "$slice array argument should be of form [skip, limit]");
  }
  const auto type = [](ValueView argument) {
    return std::string(bson::type_alias(argument.type()));
  };
  if (!arguments[0].is_number()) {
    return fail(kSliceSkipNoNumber,
                "$slice expects the skip argument to be a number, got " + type(arguments[0]));
  }
  if (!arguments[1].is_number()) {
    return fail(kSliceLimitNoNumber,
                "$slice expects the limit argument to be a number, got " + type(arguments[1]));
  }
  const int32_t limit = to_int32(arguments[1]);
  if (limit <= 0) {
    return fail(kSliceLimitNotPositive,
                "$slice limit must be positive, got " + std::to_string(limit));
  }
  return ArraySlice{to_int32(arguments[0]), limit};
}

class Parser {
 public:
  explicit Parser(const ProjectionPlace& place) : place_(place) {}

  Result<ProjectionTree> parse(bson::View specification) {
    if (!place_.is_of_find && specification.empty()) {
      return fail(kEmptyProjection, "projection specification must have at least one field");
    }
    bool id_named = false;
    for (const Element element : specification) {
      id_named = id_named || element.key == "_id" || element.key.starts_with("_id.");
      GM_TRY(add(element, tree_.root, 0));
    }
    const bool is_inclusive = inclusive_.value_or(is_inclusive_by_default());
    tree_.kind = is_inclusive ? TreeKind::kInclude : TreeKind::kExclude;
    // An inclusion keeps _id unless the projection names _id.
    if (is_inclusive && !id_named) tree_.root.add("_id").kind = Kind::kLeaf;
    if (id_included_ && *id_included_ != is_inclusive) tree_.root.remove("_id");
    tree_.complete();
    return std::move(tree_);
  }

 private:
  // Returns whether a projection is an inclusion if it names only _id, elements of arrays,
  // metadata, or nothing at all.
  bool is_inclusive_by_default() const {
    const bool has_id = id_included_.value_or(false);
    if (has_metadata_ && !place_.is_of_find) return true;
    return has_slice_ ? has_id : has_element_match_ || has_id;
  }

  Status add(const Element& element, ProjectionNode& parent, size_t depth) {
    const bool positional = element.key.ends_with(".$");
    if (element.key.find(".$.") != std::string_view::npos) {
      return fail(kPositionalWithin,
                  "As of 4.4, it's illegal to specify positional operator in the middle of a path."
                  "Positional projection may only be used at the end, for example: a.b.$. If the "
                  "query previously used a form like a.b.$.d, remove the parts following the '$' "
                  "and the results will be equivalent.");
    }
    if (positional && !place_.is_of_find) {
      return fail(kPositionalInStage, "Cannot use positional projection in aggregation projection");
    }
    if (element.value.type() == Type::kDocument) {
      if (positional) {
        return fail(kPositionalDocument,
                    "positional projection cannot be used with an expression or sub object");
      }
      return add_document(element, parent, depth);
    }
    if (element.value.is_number() || element.value.type() == Type::kBool) {
      const bool included =
          element.value.type() == Type::kBool ? element.value.as_bool() : is_true(element.value);
      if (included && positional) return add_positional(element.key, parent, depth);
      if (positional) {
        return fail(kPositionalExclusion, "positional projection cannot be used with exclusion");
      }
      return add_plain(element.key, included, parent, depth);
    }
    if (positional) {
      return fail(kPositionalLiteral, "positional projection cannot be used with a literal");
    }
    return add_literal(element, parent, depth);
  }

  Status add_plain(std::string_view key, bool included, ProjectionNode& parent, size_t depth) {
    GM_ASSIGN(const bson::Path path, parse_path(key, depth));
    GM_ASSIGN(ProjectionNode* const node, make_node(parent, path, false));
    node->kind = Kind::kLeaf;
    // _id may be excluded in an inclusion, and included in an exclusion.
    if (key == "_id" && &parent == &tree_.root) {
      id_included_ = included;
      return {};
    }
    return record_type(key, included);
  }

  Status record_type(std::string_view key, bool included) {
    if (inclusive_.value_or(included) != included) {
      const std::string field(key);
      return included ? fail(kInclusionInExclusion,
                             "Cannot do inclusion on field " + field + " in exclusion projection")
                      : fail(kExclusionInInclusion,
                             "Cannot do exclusion on field " + field + " in inclusion projection");
    }
    inclusive_ = included;
    return {};
  }

  Status add_positional(std::string_view key, ProjectionNode& parent, size_t depth) {
    if (tree_.filter) {
      return fail(kPositionalTwice,
                  "Cannot specify more than one positional projection per query.");
    }
    if (has_element_match_) {
      return fail(kPositionalBesideElementMatch,
                  "Cannot specify positional operator and $elemMatch.");
    }
    if (!place_.filter) {
      return fail(kPositionalWithoutFilter,
                  "Projections with a positional operator require a matcher");
    }
    if (key == ".$") {
      return fail(kPositionalAlone, "Projection on field .$ is invalid");
    }
    GM_ASSIGN(const bson::Path path, parse_path(key.substr(0, key.size() - 2), depth));
    // $expr, $jsonSchema and $text do not identify an element that matched.
    GM_ASSIGN(tree_.filter, Filter::parse(*place_.filter, {.special_operators = false,
                                                           .collator = place_.scope.collator()}));
    GM_ASSIGN(ProjectionNode* const end, make_node(parent, path, false));
    end->kind = Kind::kLeaf;
    ProjectionNode* node = &parent;
    for (const std::string& part : path.parts()) {
      node = node->find(part);
      node->positional = true;
    }
    // The documents around the path are on the path too.
    for (ProjectionNode* const outer : within_) outer->positional = true;
    return record_type(key, true);
  }

  Status add_document(const Element& element, ProjectionNode& parent, size_t depth) {
    const bson::View fields = element.value.as_document();
    if (fields.empty()) {
      return fail(kEmptySubProjection,
                  "An empty sub-projection is not a valid value. Found empty object at path");
    }
    GM_ASSIGN(const bson::Path path, parse_path(element.key, depth));
    const Element first = *fields.begin();
    if (first.key.starts_with('$') && std::next(fields.begin()) == fields.end()) {
      if (first.key == "$slice" && place_.is_of_find) {
        return add_slice(path, element.value, first.value, parent);
      }
      if (first.key == "$elemMatch") return add_element_match(path, element, parent);
      return add_computed(path, element.value, first.key, parent);
    }
    GM_ASSIGN(ProjectionNode* const node, make_node(parent, path, true));
    // A node moves when its parent gains children. None of these nodes gains a sibling until they
    // are removed from within_.
    const size_t outer = within_.size();
    ProjectionNode* at = &parent;
    for (const std::string& part : path.parts()) {
      at = at->find(part);
      within_.push_back(at);
    }
    for (const Element field : fields) {
      GM_TRY(add(field, *node, depth + path.parts().size()));
    }
    within_.resize(outer);
    return {};
  }

  Status add_slice(const bson::Path& path, ValueView whole, ValueView value,
                   ProjectionNode& parent) {
    const Status cut = add_array_slice(path, value, parent);
    if (cut) return {};
    // Otherwise, the value may be the expression $slice.
    const Status added = add_computed(path, whole, "$slice", parent);
    if (added) return {};
    // Servers evaluate an argument such as [0, 1] later than this engine, so they find no error in
    // the expression yet. Then the error of the find() syntax is reported twice.
    const bool is_sound = value.type() == Type::kArray && parse_slice(value) && inclusive_ != false;
    const Error& error = is_sound ? cut.error() : added.error();
    return fail(error.code(),
                "Invalid $slice syntax. The given syntax " + bson::to_text(whole) +
                    " did not match the find() syntax because :: " +
                    error_code_name(cut.error().code()) + ": " + cut.error().message() +
                    " :: The given syntax did not match the expression $slice syntax. :: caused "
                    "by :: " +
                    error.message());
  }

  Status add_array_slice(const bson::Path& path, ValueView value, ProjectionNode& parent) {
    GM_ASSIGN(const ArraySlice slice, parse_slice(value));
    GM_ASSIGN(ProjectionNode* const node, make_node(parent, path, false));
    node->kind = Kind::kSliced;
    node->slice = slice;
    has_slice_ = true;
    return {};
  }

  Status add_element_match(const bson::Path& path, const Element& element, ProjectionNode& parent) {
    if (!place_.is_of_find) {
      return fail(ErrorCode::kInvalidPipelineOperator, "Cannot use $elemMatch in this context");
    }
    const ValueView condition = (*element.value.as_document().begin()).value;
    if (condition.type() != Type::kDocument) {
      return fail(kElementMatchType, "elemMatch: Invalid argument, object required, but got " +
                                         std::string(bson::type_alias(condition.type())));
    }
    if (tree_.filter) {
      return fail(kElementMatchBesidePositional,
                  "Cannot specify positional operator and $elemMatch.");
    }
    if (path.parts().size() != 1 || &parent != &tree_.root) {
      return fail(kElementMatchNested, "Cannot use $elemMatch projection on a nested field.");
    }
    bson::Builder filter;
    filter.append(element.key, element.value);
    GM_ASSIGN(Filter parsed,
              Filter::parse(std::move(filter).finish(), {.collator = place_.scope.collator()}));
    GM_ASSIGN(ProjectionNode* const node, make_node(parent, path, false));
    node->kind = Kind::kElementMatched;
    node->element = std::move(parsed);
    has_element_match_ = true;
    return {};
  }

  Status add_computed(const bson::Path& path, ValueView value, std::string_view name,
                      ProjectionNode& parent) {
    Result<std::unique_ptr<Expression>> expression = parse_expression(value, place_.scope);
    const std::string unknown = "Unrecognized expression '" + std::string(name) + "'";
    if (!expression && expression.error().code() == ErrorCode::kInvalidPipelineOperator &&
        expression.error().message() == unknown) {
      return fail(kUnknownExpression, "Unknown expression " + std::string(name));
    }
    if (name == "$meta" && expression) {
      has_metadata_ = true;
      return set_computed(path, std::move(expression).value(), parent);
    }
    if (inclusive_ == false) {
      return fail(kComputedInExclusion,
                  "Cannot use expression other than $meta in exclusion projection");
    }
    if (!expression) return fail(std::move(expression).error());
    inclusive_ = true;
    return set_computed(path, std::move(expression).value(), parent);
  }

  Status add_literal(const Element& element, ProjectionNode& parent, size_t depth) {
    GM_ASSIGN(std::unique_ptr<Expression> expression,
              parse_expression(element.value, place_.scope));
    GM_ASSIGN(const bson::Path path, parse_path(element.key, depth));
    GM_TRY(set_computed(path, std::move(expression), parent));
    if (inclusive_ == false) {
      return fail(kLiteralInExclusion, "Cannot use an expression " + std::string(element.key) +
                                           ": " + bson::to_text(element.value) +
                                           " in an exclusion projection");
    }
    inclusive_ = true;
    return {};
  }

  static Status set_computed(const bson::Path& path, std::unique_ptr<Expression> expression,
                             ProjectionNode& parent) {
    GM_ASSIGN(ProjectionNode* const node, make_node(parent, path, false));
    node->kind = Kind::kComputed;
    node->expression = std::move(expression);
    return {};
  }

  const ProjectionPlace& place_;
  ProjectionTree tree_;
  std::vector<ProjectionNode*> within_;  // from the root to the document being parsed
  std::optional<bool> inclusive_;        // unset while both kinds are possible
  std::optional<bool>
      id_included_;  // unset if the projection does not include or exclude _id as a whole
  bool has_slice_ = false;
  bool has_element_match_ = false;
  bool has_metadata_ = false;  // {$meta: ...}, which goes with inclusion and exclusion
};

}  // namespace

Result<ProjectionTree> parse_projection(bson::View specification, const ProjectionPlace& place) {
  return Parser(place).parse(specification);
}

}  // namespace gridmount::query
