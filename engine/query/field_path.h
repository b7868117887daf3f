// Field paths as stages and projections name them. Internal to engine/query.
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "engine/bson/path.h"
#include "engine/error.h"

namespace gridmount::query {

// Of a path.
inline constexpr ErrorCode kPathEndsWithDot{40353};

// A name between two dots. Location15998 if it is empty, 16410 if it begins with '$' and is none of
// a DBRef, 16411 if it holds a NUL, 16412 if it holds a dot.
Status check_field_name(std::string_view name);

// A field path as in {$unwind: "$a.b"} or {as: "a.b"}: no empty parts (code 15998), none that
// begins with '$' (16410) unless it is one of a DBRef, not too many (Overflow).
Status check_field_path(std::string_view path);
Result<bson::Path> field_path(std::string_view dotted);

}  // namespace gridmount::query
