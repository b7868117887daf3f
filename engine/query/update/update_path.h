// The paths that updates name: fields, and three ways to name elements of arrays: `$` (the element
// the filter matched), `$[]` (each), `$[id]` (those an array filter matches). Internal to this
// folder. Source: MongoDB manual, "Update Operators", "Array"; codes and messages as the server's.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/path.h"

namespace gridmount::query {

// "$".
bool is_matched_part(std::string_view part);
// "$[]" or "$[id]".
bool is_elements_part(std::string_view part);
// Of an elements part: "id", empty for `$[]`.
std::string_view identifier_of(std::string_view elements_part);

// Whether some part is `$`, `$[]` or `$[id]`.
bool is_positional(const bson::Path& path);
// The path up to the first such part: what a store can tell indexes by.
std::string fixed_prefix(const bson::Path& path);

// EmptyFieldName, Overflow (too many parts), BadValue where `$` or `$[]` stand where they cannot.
Status check_update_path(const bson::Path& path);

}  // namespace gridmount::query
