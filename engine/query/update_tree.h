// The changes of one update as a tree of field names, and their application to a document in one
// pass. Internal to this folder.
//
// As paths may not meet, each node is either one operator's or leads to others. Nodes lie in the
// order in which new fields are made: by name, positions by number (as servers since 5.0 do it).
#pragma once

#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/bson/path.h"
#include "engine/query/update_operator.h"

namespace gridmount::query {

struct UpdateNode {
  std::string name;
  // One of the two: an operator with its path and operand, or children.
  const UpdateOperator* update = nullptr;
  std::string path;
  bson::Value operand;
  std::vector<UpdateNode> children;

  const UpdateNode* find(std::string_view child) const;
};

// ConflictingUpdateOperators if the path is another's, or leads to one or away from one.
Status add_update(UpdateNode& root, const bson::Path& path, const UpdateOperator* update,
                  const bson::Value& operand);

// The document after all changes of the tree. PathNotViable where a field would have to be made in
// something that is neither a document nor an array.
Result<bson::Document> apply_updates(const UpdateNode& root, bson::View document, bool inserting);

}  // namespace gridmount::query
