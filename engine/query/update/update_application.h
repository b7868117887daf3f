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
  // The position of the array element that `$` changes, if the filter has matched one.
  std::optional<size_t> matched_position;
  bool inserting = false;  // the document is the new document of an upsert
};

// Returns the document with all changes of the tree. Fails with PathNotViable if a field cannot be
// created because its parent is neither a document nor an array, or because its parent is an array
// and its name is not a position. Fails with ConflictingUpdateOperators if one element gets
// conflicting changes, for example by its position and by `$`, or by two array filters. Fails with
// BadValue if there is no match for `$`, or if `$[]` or an array filter is applied to a missing
// field or to a value that is not an array. Fails with CannotBackfillArray (34) if more than
// 1,500,000 nulls would be needed between the end of an array and a new element. Also fails with
// the errors of the operators and of the array filters.
Result<bson::Document> apply_updates(const UpdateNode& root, bson::View document,
                                     const UpdateContext& context);

}  // namespace gridmount::query
