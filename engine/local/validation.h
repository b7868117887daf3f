// Checks a document against the validator of its collection.
// Source: MongoDB manual, "Schema Validation".
//
// Thread-safety: a pure function, apart from the log.
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/collection_metadata.h"

namespace gridmount::local {

// `metadata` must have a validator. `before` is the document that `after` replaces, or nothing if
// `after` is new. Fails with DocumentValidationFailure and errInfo. With the action `warn` it logs
// a line instead.
Status validate(const CollectionMetadata& metadata, std::optional<bson::View> before,
                bson::View after);

}  // namespace gridmount::local
