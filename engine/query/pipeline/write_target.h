// The target collection of $out or $merge. Internal to engine/query. Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Parses "name" or {db: "d", coll: "name"}. `value` must be a string or a document. `field` is the
// name of the field with this value, or empty if it is the value of the stage itself. Fails with
// UnknownField or 40413 for a field that is unknown or given twice, and with TypeMismatch for a
// value that is no string. Does not check the names: check_target() does.
Result<CollectionName> parse_target(std::string_view stage, std::string_view field,
                                    bson::ValueView value);

// Fails for an invalid name (InvalidNamespace), for a system collection (`special`) and for an
// internal database (`internal`).
Status check_target(std::string_view stage, const CollectionName& target, ErrorCode special,
                    ErrorCode internal);

}  // namespace gridmount::query
