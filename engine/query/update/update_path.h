// The paths of an update. A path consists of field names, and of three kinds of names for elements
// of arrays: `$` (the element that the filter has matched), `$[]` (every element), and `$[id]` (the
// elements that an array filter matches). Internal to engine/query. Thread-safety: pure functions.
//
// Source: MongoDB manual, "Update Operators", "Array". The error codes and messages are those of
// servers.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/dotted_path.h"

namespace gridmount::query {

// Returns whether the part is "$".
bool is_matched_part(std::string_view part);
// Returns whether the part is "$[]" or "$[id]".
bool is_elements_part(std::string_view part);
// Returns "id" for "$[id]", and an empty string for "$[]".
std::string_view identifier_of(std::string_view elements_part);

// Returns whether a part of the path is `$`, `$[]` or `$[id]`.
bool is_positional(const bson::Path& path);
// Returns the path before its first `$`, `$[]` or `$[id]`. A store compares the result with the
// paths of indexes.
std::string fixed_prefix(const bson::Path& path);

// Fails with EmptyFieldName for an empty path or an empty part, with Overflow for more than
// bson::kMaxDepth parts, and with BadValue if the first part is `$`, `$[]` or `$[id]`, or if the
// path has more than one `$`.
Status check_update_path(const bson::Path& path);

}  // namespace gridmount::query
