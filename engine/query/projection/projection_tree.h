// What a projection of find, of findAndModify and of $project, or $addFields, makes of a document:
// a tree of the fields it names, applied in one walk over the document. Source: MongoDB manual,
// "Project Fields to Return from Query", "$project" and "$addFields"; where arrays and scalars are
// met on the way, and in which order fields come out, as the server does. Internal to engine/query.
//
// Fields that are kept have the document's order. Computed ones follow, in the order in which the
// projection names them, but for those that are put into something that stands in the document.
//
// Thread-safety: a tree that is built may be applied by many threads, each with its own state.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/path.h"
#include "engine/query/expression/expression.h"
#include "engine/query/expression/needs.h"
#include "engine/query/filter/filter.h"
#include "engine/query/projection/transform_state.h"

namespace gridmount::query {

// The elements that {$slice: n} or {$slice: [skip, n]} leaves; from the end if negative.
struct ArraySlice {
  std::optional<int32_t> skip;
  int32_t limit = 0;
};

struct ProjectionNode {
  // A leaf is what the tree keeps, or takes out.
  enum class Kind { kInner, kLeaf, kSliced, kElementMatched, kComputed };

  std::string name;
  Kind kind = Kind::kInner;
  std::vector<ProjectionNode> children;  // kInner; in the order in which they were named

  ArraySlice slice;                        // kSliced
  std::optional<Filter> element;           // kElementMatched; on the whole document
  std::unique_ptr<Expression> expression;  // kComputed

  // On the path of {"a.b.$": 1}, or at its end.
  bool positional = false;
  // False: nobody looks at it, it is only evaluated for its errors.
  bool written = true;

  // What ProjectionTree::complete() finds out.
  size_t computed_at = 0;  // kComputed; in TransformState::computed
  bool computes = false;   // it is computed, or something below it is
  size_t kept = 0;         // children that are not

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
  // Positions of children by name, once there are more than are worth looking through.
  std::unordered_map<std::string, size_t, NameHash, std::equal_to<>> positions_;
};

struct ProjectionTree {
  // kInclude gives the named fields, kExclude all others, kAdd all fields and the computed ones, in
  // place of those that were there.
  enum class Kind { kInclude, kExclude, kAdd };

  Kind kind = Kind::kExclude;
  ProjectionNode root;
  // For {"a.$": 1}.
  std::optional<Filter> filter;
  size_t computed_count = 0;

  // To be called when all nodes are there.
  void complete();
};

// The node at the end of the path below `parent`, which is made. `inner`: it may be there if it is
// one. Codes 31250 and 31249 if the path collides with another; the messages name `path`.
Result<ProjectionNode*> make_node(ProjectionNode& parent, const bson::Path& path, bool inner);

// Where a projection stands.
struct ProjectionPlace {
  // Of find and findAndModify, where parts of arrays may be named: {a: {$slice: 2}}, {a:
  // {$elemMatch: {b: 1}}}, {"a.$": 1}. Else of $project.
  bool is_of_find = false;
  // Of find: the filter, which {"a.$": 1} needs.
  std::optional<bson::View> filter;
  VariableScope& scope;
};

Result<ProjectionTree> parse_projection(bson::View specification, const ProjectionPlace& place);

// Valid as long as the document and until the next call with this state. `wanted`, if there is one,
// are the fields of the document that somebody looks at.
Result<bson::View> apply_projection(const ProjectionTree& tree, bson::View document,
                                    TransformState& state, const Needs* wanted = nullptr);

}  // namespace gridmount::query
