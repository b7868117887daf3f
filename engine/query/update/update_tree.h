// The changes of one update as a tree of field names. Internal to this folder.
//
// As paths may not meet, each node is either one operator's or leads to others. Its children lie in
// the order in which new fields are made: by name, positions by number (as servers since 5.0 do
// it). Nodes are shared between trees, and constant once a tree is whole.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/bson/document.h"
#include "engine/bson/path.h"
#include "engine/query/update/array_filters.h"
#include "engine/query/update/update_operator.h"

namespace gridmount::query {

// The position a name stands for in an array: digits, without needless zeros.
std::optional<uint32_t> position_of(std::string_view name);

struct FieldOrder {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

struct UpdateLeaf {
  const UpdateOperator* update;
  bson::Value operand;
  std::unique_ptr<const PreparedOperand> prepared;
};

struct UpdateNode {
  struct Child {
    std::shared_ptr<UpdateNode> node;
    size_t ordinal = 0;  // among the children, in order
  };
  using Children = std::map<std::string, Child, FieldOrder>;

  // The one or the others.
  std::shared_ptr<const UpdateLeaf> leaf;
  // By field name; with `of_elements` by identifier of an array filter, "" for `$[]`.
  Children children;
  bool of_elements = false;
  // What `$` leads to.
  std::shared_ptr<UpdateNode> matched;

  const UpdateNode* find(std::string_view child) const;
};

// ConflictingUpdateOperators if the path is another's, or leads to one or away from one. BadValue
// if it names an array filter that is not there. The path has been checked (update_path.h).
Status add_update(UpdateNode& root, const bson::Path& path, std::shared_ptr<const UpdateLeaf> leaf,
                  const ArrayFilters& filters);

// The children's ordinals; to be called once all is added.
void number_children(UpdateNode& root);

// One node that does what both do. `path` leads to them, for the conflict that is the result if
// they meet.
Result<std::shared_ptr<UpdateNode>> merge_updates(const std::shared_ptr<UpdateNode>& a,
                                                  const std::shared_ptr<UpdateNode>& b,
                                                  const std::string& path);

}  // namespace gridmount::query
