// The changes of one update as a tree of field names. Internal to engine/query.
//
// Paths must not collide, so a node either has an operator or has other nodes below it. The
// children of a node are in the order in which new fields are created, as on servers since 5.0.
// Names are in the order of their bytes, but array positions form a group in the order of their
// numbers. The group comes after the names whose first byte is less than '0', and before all other
// names. A tree that merge_updates() has made shares nodes with the two trees that it was made of.
//
// Thread-safety: a complete tree is immutable, so thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/bson/document.h"
#include "engine/bson/dotted_path.h"
#include "engine/query/update/array_filters.h"
#include "engine/query/update/update_operator.h"

namespace gridmount::query {

// Returns the array position that the name means. Returns nullopt if the name does not consist of
// digits, begins with a zero but is not "0", or exceeds 32 bits.
std::optional<uint32_t> position_of(std::string_view name);

struct FieldOrder {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

struct UpdateLeaf {
  const UpdateOperator* update;
  bson::Value operand;
  std::unique_ptr<const PreparedOperand> prepared;
  SharedCollator collator = nullptr;  // the order of strings; null: as bytes
};

struct UpdateNode {
  struct Child {
    std::shared_ptr<UpdateNode> node;
    size_t ordinal = 0;  // the number of children before this child
  };
  using Children = std::map<std::string, Child, FieldOrder>;

  // The operator of this node. If it is set, the node has no children and no `matched`.
  std::shared_ptr<const UpdateLeaf> leaf;
  // The children by field name or, if `of_elements` is true, by the identifier of an array filter.
  // The identifier "" means `$[]`.
  Children children;
  bool of_elements = false;
  // The node for `$`.
  std::shared_ptr<UpdateNode> matched;

  const UpdateNode* find(std::string_view child) const;
};

// Adds an update of the field at `path`. Fails with ConflictingUpdateOperators if the tree already
// changes the same field, a field inside it, or a field that contains it. Also fails with
// ConflictingUpdateOperators if, below one field, one path continues with `$[]` or `$[id]` and
// another path with a name, a position or `$`. Fails with BadValue if the path names an unknown
// array filter. The caller must have checked the path (update_path.h).
Status add_update(UpdateNode& root, const bson::Path& path, std::shared_ptr<const UpdateLeaf> leaf,
                  const ArrayFilters& filters);

// Sets the ordinals of all nodes below `root`. Must be called after the last update has been added.
void number_children(UpdateNode& root);

// Returns a node that has the changes of both nodes. Fails with ConflictingUpdateOperators if the
// changes collide. `path` is the path of the two nodes, for the error message.
Result<std::shared_ptr<UpdateNode>> merge_updates(const std::shared_ptr<UpdateNode>& a,
                                                  const std::shared_ptr<UpdateNode>& b,
                                                  const std::string& path);

}  // namespace gridmount::query
