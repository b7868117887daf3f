// A projection as a tree of the fields it names, applied to a document in one walk. It serves the
// projections of find and findAndModify and the stages $project and $addFields. Internal to
// engine/query.
//
// Fields that are kept are in the document's order. Computed fields follow in the order in which
// the projection names them. A computed field that goes into a field of the document stays at that
// field's place. The order of fields, and arrays and scalars on a path, are treated as on servers.
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
  // A kLeaf node is kept in an inclusion and removed in an exclusion.
  enum class Kind { kInner, kLeaf, kSliced, kElementMatched, kComputed };

  std::string name;
  Kind kind = Kind::kInner;
  std::vector<ProjectionNode> children;  // kInner; in the order in which the projection names them

  ArraySlice slice;                        // kSliced
  std::optional<Filter> element;           // kElementMatched; a filter on the whole document
  std::unique_ptr<Expression> expression;  // kComputed

  // The node is on the path of {"a.b.$": 1}, or at its end.
  bool positional = false;
  // If false, the field is not needed. It is only evaluated for its errors.
  bool written = true;

  // The fields below are set by ProjectionTree::complete().
  size_t computed_at = 0;  // kComputed; index into TransformState::computed
  bool computes = false;   // this node, or one below it, is computed
  size_t kept = 0;         // number of children that are not computed

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
  // Positions of children by name, used once there are too many for a linear search.
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

  // Must be called once all nodes are added.
  void complete();
};

// Adds the node at the end of the path below `parent` and returns it. If `inner` is true and the
// path leads to an existing inner node, returns that node. Otherwise fails with code 31250 or 31249
// if the path collides with another one. The error messages name `path`.
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

// Returns the projected document. It is valid as long as `document`, and until the next call with
// this state. `wanted` holds the fields of the document that are needed. It is null if all are.
Result<bson::View> apply_projection(const ProjectionTree& tree, bson::View document,
                                    TransformState& state,
                                    const FieldDependencies* wanted = nullptr);

}  // namespace gridmount::query
