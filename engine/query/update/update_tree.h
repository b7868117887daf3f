// The changes of one update as a tree of field names. Internal to engine/query.
//
// Paths may not collide, so a node either has an operator or leads to other nodes. Its children are
// in the order in which new fields are created: by name, and positions by number, as on servers
// since 5.0. Trees may share nodes.
//
// Thread-safety: a complete tree is immutable, so safe to share between threads.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/bson/document.h"
#include "engine/bson/dotted_path.h"
#include "engine/query/update/array_filters.h"
#include "engine/query/update/update_operator.h"

namespace gridmount::query {

// Returns the array position that the name stands for: digits without leading zeros.
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
    size_t ordinal = 0;  // index among the children, in their order
  };
  using Children = std::map<std::string, Child, FieldOrder>;

  // The operator of this node. If set, there are no children and no `matched`.
  std::shared_ptr<const UpdateLeaf> leaf;
  // The children by field name or, if `of_elements` is true, by the identifier of an array filter,
  // where "" stands for `$[]`.
  Children children;
  bool of_elements = false;
  // The node that `$` leads to.
  std::shared_ptr<UpdateNode> matched;

  const UpdateNode* find(std::string_view child) const;
};

// Fails with ConflictingUpdateOperators if the path equals another path, or if one is a prefix of
// the other. Fails with BadValue if the path names an unknown array filter. The caller must have
// checked the path (update_path.h).
Status add_update(UpdateNode& root, const bson::Path& path, std::shared_ptr<const UpdateLeaf> leaf,
                  const ArrayFilters& filters);

// Sets the ordinals of all children. Must be called once all updates are added.
void number_children(UpdateNode& root);

// Returns one node with the changes of both nodes. Fails with ConflictingUpdateOperators if the
// changes collide. `path` is the path of the two nodes, for the message.
Result<std::shared_ptr<UpdateNode>> merge_updates(const std::shared_ptr<UpdateNode>& a,
                                                  const std::shared_ptr<UpdateNode>& b,
                                                  const std::string& path);

}  // namespace gridmount::query
