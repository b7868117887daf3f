// Applies a tree of changes to a document in one pass. Internal to engine/query. Thread-safety:
// pure functions.
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/update/array_filters.h"
#include "engine/query/update/update_tree.h"

namespace gridmount::query {

struct UpdateContext {
  const ArrayFilters& filters;
  // The array element that `$` stands for, if the filter matched one.
  std::optional<size_t> matched_position;
  bool inserting = false;  // the document is the new document of an upsert
};

// Returns the document with all changes of the tree. Fails with PathNotViable if it cannot create a
// field because the value there is neither a document nor an array. Fails with
// ConflictingUpdateOperators if changes by position, by `$` and by array filters meet in one
// element. Fails with BadValue if `$` has no match or if `$[]` meets a value that is not an array.
Result<bson::Document> apply_updates(const UpdateNode& root, bson::View document,
                                     const UpdateContext& context);

}  // namespace gridmount::query
