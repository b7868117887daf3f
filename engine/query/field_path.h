// Field paths as pipeline stages and projections write them. Internal to engine/query.
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/dotted_path.h"

namespace gridmount::query {

// Checks one part of a field path, the name between two dots. Fails with Location15998 if the name
// is empty, 16410 if it begins with '$' and is not a field of a DBRef, 16411 if it holds a NUL, and
// 16412 if it holds a dot.
Status check_field_name(std::string_view name);

// Checks a dotted path such as "a.b". The caller must remove the `$` of an expression such as
// "$a.b". Fails with Location40352 if the path is empty, 40353 if it ends with a dot, with the
// errors of check_field_name() for its parts, and with Overflow if it has more than bson::kMaxDepth
// parts.
Status check_field_path(std::string_view path);
// Checks the path as check_field_path() does, and splits it into its parts.
Result<bson::Path> split_field_path(std::string_view dotted);

}  // namespace gridmount::query
