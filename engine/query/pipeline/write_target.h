// The target collection of $out or $merge. Internal to engine/query. Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "engine/query/pipeline/stage.h"

namespace gridmount::query {

// Parses "name" or {db: "d", coll: "name"}. `value` must be a string or a document. `field` is the
// name of the field with this value, or empty if `value` is the value of the stage itself. Fails
// with UnknownField for an unknown field, with 40413 for a field that is given twice, and with
// TypeMismatch for a name that is no string. Does not check the names: check_target() does.
Result<CollectionName> parse_target(std::string_view stage, std::string_view field,
                                    bson::ValueView value);

// Fails with InvalidNamespace for an invalid collection name, with `special` for a system
// collection, and with `internal` for an internal database.
Status check_target(std::string_view stage, const CollectionName& target, ErrorCode special,
                    ErrorCode internal);

}  // namespace gridmount::query
