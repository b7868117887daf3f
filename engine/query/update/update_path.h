// The paths of an update. They name fields, and elements of arrays in three ways: `$` (the element
// that the filter matched), `$[]` (every element), and `$[id]` (the elements that an array filter
// matches). Internal to engine/query. Thread-safety: pure functions.
//
// Source: MongoDB manual, "Update Operators", "Array". The error codes and messages are the
// server's.
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

// Returns whether some part is `$`, `$[]` or `$[id]`.
bool is_positional(const bson::Path& path);
// Returns the path up to the first such part, which a store compares with index paths.
std::string fixed_prefix(const bson::Path& path);

// Fails with EmptyFieldName, with Overflow for too many parts, and with BadValue if `$` or `$[]` is
// where it may not be.
Status check_update_path(const bson::Path& path);

}  // namespace gridmount::query
