// Whether a collection's validator lets a document be stored.
// Source: MongoDB manual, "Schema Validation".
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/catalog_entry.h"

namespace gridmount::local {

// `entry` has a validator. `before` is the document that `after` replaces, nothing for a new one.
// DocumentValidationFailure with errInfo; with the action `warn` a line in the log instead.
Status validate(const CollectionEntry& entry, std::optional<bson::View> before, bson::View after);

}  // namespace gridmount::local
