// Field paths as stages and projections name them. Internal to engine/query.
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/path.h"

namespace gridmount::query {

// A name between two dots. Location15998 if it is empty, 16410 if it begins with '$' and is none of
// a DBRef, 16411 if it holds a NUL, 16412 if it holds a dot.
Status check_field_name(std::string_view name);

// A field path as in {$unwind: "$a.b"} or {as: "a.b"}, or behind an expression's `$`. Location40352
// if it is empty, 40353 if it ends with a dot, check_field_name()'s of its parts, Overflow if there
// are more than bson::kMaxDepth of them.
Status check_field_path(std::string_view path);
Result<bson::Path> field_path(std::string_view dotted);

}  // namespace gridmount::query
