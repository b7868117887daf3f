// Checks a document against the validator of its collection.
// Source: MongoDB manual, "Schema Validation".
//
// Thread-safety: a pure function, apart from the log.
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/catalog_entry.h"

namespace gridmount::local {

// `entry` must have a validator. `before` is the document that `after` replaces, or nothing if
// `after` is new. Fails with DocumentValidationFailure and errInfo. With the action `warn` it logs
// a line instead.
Status validate(const CollectionEntry& entry, std::optional<bson::View> before, bson::View after);

}  // namespace gridmount::local
