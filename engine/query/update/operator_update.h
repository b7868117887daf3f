// An update with operators, such as {$set: {...}, $push: {...}}, parsed to a tree of changes.
// Internal to engine/query. Immutable, so thread-safe.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/update/array_filters.h"
#include "engine/query/update/update_tree.h"

namespace gridmount::query {

struct OperatorUpdate {
  UpdateNode root;
  ArrayFilters filters;
  // See Update::touched_paths().
  std::vector<std::string> touched_paths;
  // True if some path has a `$`.
  bool needs_match = false;
  // True if the update may nest a document deeper than bson::kMaxStoredDepth. The result must then
  // be checked.
  bool may_deepen = false;
};

// Parses an update. ArrayFilters::parse() parses `array_filters`. Fails with FailedToParse for an
// unknown operator and for an array filter that no path uses, with BadValue, TypeMismatch or
// FailedToParse for an operand that its operator refuses, as Filter::parse() does for the condition
// of a $pull, and as ArrayFilters::parse(), check_update_path(), add_update() and
// check_interruption() do.
Result<OperatorUpdate> parse_operator_update(bson::View specification, bson::View array_filters,
                                             const SharedCollator& collator);

// Adds `$set: {path: value}` to the tree, for an equality in the filter of an upsert. Fails as
// add_update() does. The caller must then call number_children().
Status add_equality(UpdateNode& root, const bson::Path& path, bson::ValueView value);

}  // namespace gridmount::query
