// What $project and $addFields make of a document: a tree of the fields they name, applied in one
// walk over the document.
// Source: MongoDB manual, "$project" and "$addFields"; where arrays and scalars are met on the way,
// and in which order fields come out, as the server does. Internal to engine/query.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/bson/document.h"
#include "engine/error.h"
#include "engine/query/expression/expression.h"
#include "engine/query/pipeline/document_transform.h"

namespace gridmount::query {

class ProjectionTree : public DocumentTransform {
 public:
  // kInclude gives the named fields, kExclude all others, kAdd all fields and the computed ones,
  // in place of those that were there.
  enum class Kind { kInclude, kExclude, kAdd };

  explicit ProjectionTree(Kind kind) : kind_(kind) {}
  // What the parser finds out last.
  void set_kind(Kind kind) { kind_ = kind; }

  // To build it. `path` has passed check_field_path(). Codes 31250 and 31249 if it collides with
  // one that is there; the messages name `shown_path`.
  Status add_leaf(std::string_view path, std::string_view shown_path);
  Status add_computed(std::string_view path, std::string_view shown_path,
                      std::unique_ptr<Expression> expression);
  bool has_field(std::string_view name) const { return root_.find(name) != nullptr; }
  void remove_field(std::string_view name);

  Result<bson::View> apply(bson::View document, TransformState& state) const override;
  void plan(Needs& needs) override;

 private:
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };

  // A leaf without an expression is included or excluded; one with children is entered.
  struct Node {
    std::string name;
    std::vector<Node> children;
    std::unique_ptr<Expression> expression;
    size_t computed_at = 0;  // in TransformState::computed
    bool computes = false;   // it, or something below it, has an expression
    bool written = true;     // false: nobody looks at it, it is only evaluated for its errors
    bool is_inner = false;

    // By name, once there are more children than are worth looking through.
    std::unordered_map<std::string, size_t, NameHash, std::equal_to<>> positions;

    const Node* find(std::string_view child) const;
    Node& add(std::string_view child);
    size_t position_of(const Node* child) const {
      return static_cast<size_t>(child - children.data());
    }
  };
  class Writer;

  Result<Node*> add_node(std::string_view path, std::string_view shown_path);
  void plan_include(const Node& node, const std::string& prefix, const Needs& wanted, Needs& needs);
  void plan_removed(Needs& needs) const;
  void add_expressions(const Node& node, Needs& needs) const;

  Kind kind_;
  Node root_;
  size_t computed_count_ = 0;
  Needs wanted_ = Needs::all();  // top-level fields that are looked at
};

}  // namespace gridmount::query
