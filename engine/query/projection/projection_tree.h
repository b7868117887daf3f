// A projection as a tree of the fields that the projection names. apply_projection() passes over a
// document once. The projections of find and findAndModify use such trees, and so do the stages
// $project, $addFields and $unset. Internal to engine/query.
//
// Fields of the document keep their order. In an inclusion, the computed fields follow them, in the
// order of the projection. In any other projection, a computed field takes the position of the
// document's field with the same name. The computed fields that the document does not have follow
// at the end. The same rules apply inside an embedded document. Servers return the same order of
// fields, and treat arrays and scalars on a path in the same way.
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

// The elements that {$slice: n} or {$slice: [skip, n]} keeps. A negative number counts from the end
// of the array.
struct ArraySlice {
  std::optional<int32_t> skip;
  int32_t limit = 0;
};

struct ProjectionNode {
  // An inclusion includes the field of a kLeaf node. An exclusion leaves it out.
  enum class Kind { kInner, kLeaf, kSliced, kElementMatched, kComputed };

  std::string name;
  Kind kind = Kind::kInner;
  std::vector<ProjectionNode> children;  // kInner; in the order in which the projection names them

  ArraySlice slice;                        // kSliced
  std::optional<Filter> element;           // kElementMatched; applied to the whole document
  std::unique_ptr<Expression> expression;  // kComputed

  // True if the node is a part of the path of `$`: `a` and `b` in {"a.b.$": 1}.
  bool positional = false;
  // If false, the result does not get the field. But a computed field is evaluated, because its
  // expression may fail.
  bool written = true;

  // ProjectionTree::complete() sets the fields below.
  size_t computed_at = 0;  // kComputed; position in TransformState::computed
  bool computes = false;   // is_added() of this node or of a node below it
  size_t kept = 0;         // the number of children without is_added()

  // find() returns null if there is no such child. add() must be called only for a name that no
  // child has. The results are valid until a child of this node is added or removed.
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
  // The positions in `children`, by name. find() uses them if there are too many children for a
  // linear search.
  std::unordered_map<std::string, size_t, NameHash, std::equal_to<>> positions_;
};

struct ProjectionTree {
  // kInclude: the result has the fields that the projection names. kExclude: the result has all
  // fields except the excluded ones. kAdd: the result has all fields, and a computed field replaces
  // a field of the same name.
  enum class Kind { kInclude, kExclude, kAdd };

  Kind kind = Kind::kExclude;
  ProjectionNode root;
  // The query filter. Set only if the projection has a `$`, such as {"a.$": 1}.
  std::optional<Filter> filter;
  size_t computed_count = 0;

  // Must be called after the last node has been added.
  void complete();
};

// Adds a node at `path` below `parent`, and the missing nodes on the way to it. Returns the node at
// `path`. Fails with code 31250 if there is already a node at `path`, unless `inner` is true and
// this node is an inner node. Fails with code 31249 if a node on the way to `path` is not an inner
// node. The error messages name `path`. The result is valid until one of the nodes on the way to
// `path` gets another child.
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

// Returns the complete tree. Fails with the codes that servers have for the projection of a find or
// for $project.
Result<ProjectionTree> parse_projection(bson::View specification, const ProjectionPlace& place);

// Returns the projected document, which is valid until the next call with this state, and only
// while `document` is valid. `wanted` has the fields of the result that are needed. Null means that
// all fields are needed. Fails as DocumentOutput::finish() does, with the errors of the
// expressions, and with 51246 or 51247 if `$` finds no element of the array.
Result<bson::View> apply_projection(const ProjectionTree& tree, bson::View document,
                                    TransformState& state,
                                    const FieldDependencies* wanted = nullptr);

}  // namespace gridmount::query
