// The application of a tree of changes to a document, in one pass. Internal to this folder.
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/update/array_filters.h"
#include "engine/query/update/update_tree.h"

namespace gridmount::query {

struct UpdateContext {
  const ArrayFilters& filters;
  // The element `$` stands for, if the filter found one.
  std::optional<size_t> matched_position;
  bool inserting = false;  // an upsert's new document
};

// The document after all changes of the tree. PathNotViable where a field would have to be made in
// something that is neither a document nor an array; ConflictingUpdateOperators where changes by
// position, `$` and array filters meet in one element; BadValue where `$` has no match, or `$[]`
// no array.
Result<bson::Document> apply_updates(const UpdateNode& root, bson::View document,
                                     const UpdateContext& context);

}  // namespace gridmount::query
