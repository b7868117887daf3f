// A projection as a tree of the fields that it names. It is applied to a document in one pass. The
// projections of find and findAndModify use it, and so do the stages $project and $addFields.
// Internal to engine/query.
//
// Fields of the document keep their order. Computed fields follow them, in the order in which the
// projection names them. A computed field inside a field of the document is at the position of that
// field. The order of fields, and arrays and scalars on a path, are treated as on servers.
// Source: MongoDB manual, "Project Fields to Return from Query", "$project" and "$addFields".
//
// Thread-safety: a complete tree is immutable. Several threads may apply it, each with its own
// TransformState.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/dotted_path.h"
#include "engine/query/expression/expression.h"
#include "engine/query/expression/field_dependencies.h"
#include "engine/query/filter/filter.h"
#include "engine/query/projection/transform_state.h"

namespace gridmount::query {

// The elements that {$slice: n} or {$slice: [skip, n]} keeps. Negative numbers count from the end.
struct ArraySlice {
  std::optional<int32_t> skip;
  int32_t limit = 0;
};

struct ProjectionNode {
  // The field of a kLeaf node is included by an inclusion, and left out by an exclusion.
  enum class Kind { kInner, kLeaf, kSliced, kElementMatched, kComputed };

  std::string name;
  Kind kind = Kind::kInner;
  std::vector<ProjectionNode> children;  // kInner; in the order in which the projection names them

  ArraySlice slice;                        // kSliced
  std::optional<Filter> element;           // kElementMatched; the filter is on the whole document
  std::unique_ptr<Expression> expression;  // kComputed

  // The node is on the path of {"a.b.$": 1}, or at its end.
  bool positional = false;
  // If false, the field is not needed, but it is evaluated, because it may fail.
  bool written = true;

  // The fields below are set by ProjectionTree::complete().
  size_t computed_at = 0;  // kComputed; position in TransformState::computed
  bool computes = false;   // this node, or one below it, is computed
  size_t kept = 0;         // the number of children that are not computed

  const ProjectionNode* find(std::string_view child) const;
  ProjectionNode* find(std::string_view child);
  ProjectionNode& add(std::string_view child);
  void remove(std::string_view child);
  size_t position_of(const ProjectionNode& child) const {
    return static_cast<size_t>(&child - children.data());
  }
  bool is_added() const { return kind == Kind::kComputed || kind == Kind::kElementMatched; }

 private:
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  // The positions of children by name. Used when there are too many children for a linear search.
  std::unordered_map<std::string, size_t, NameHash, std::equal_to<>> positions_;
};

struct ProjectionTree {
  // kInclude returns the named fields, and kExclude returns all others. kAdd returns all fields,
  // and the computed fields in place of old ones.
  enum class Kind { kInclude, kExclude, kAdd };

  Kind kind = Kind::kExclude;
  ProjectionNode root;
  // The query filter, for {"a.$": 1}.
  std::optional<Filter> filter;
  size_t computed_count = 0;

  // Must be called after the last node has been added.
  void complete();
};

// Adds a node for `path` below `parent`, and returns it. If `inner` is true and the path already
// has an inner node, returns that node. Otherwise fails with code 31250 or 31249 if the path
// collides with another one. The error messages name `path`.
Result<ProjectionNode*> make_node(ProjectionNode& parent, const bson::Path& path, bool inner);

// The context of a projection.
struct ProjectionPlace {
  // True for find and findAndModify, which may select elements of arrays: {a: {$slice: 2}}, {a:
  // {$elemMatch: {b: 1}}}, {"a.$": 1}. False for $project.
  bool is_of_find = false;
  // For find: the query filter, which {"a.$": 1} needs.
  std::optional<bson::View> filter;
  VariableScope& scope;
};

Result<ProjectionTree> parse_projection(bson::View specification, const ProjectionPlace& place);

// Returns the projected document. It is valid until the next call with this state, and as long as
// `document` is valid. `wanted` has the fields of the result that are needed, or is null if all
// are.
Result<bson::View> apply_projection(const ProjectionTree& tree, bson::View document,
                                    TransformState& state,
                                    const FieldDependencies* wanted = nullptr);

}  // namespace gridmount::query
