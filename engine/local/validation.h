// Checks a document against the validator of its collection.
// Source: MongoDB manual, "Schema Validation".
//
// Thread-safety: thread-safe. The only side effect is a line in the program's log.
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/collection_metadata.h"

namespace gridmount::local {

// `metadata` must have a validator. `before` is the document that `after` replaces, or nothing if
// `after` is new. Fails with DocumentValidationFailure, and with errInfo in the details, if `after`
// does not match the validator. An error of the validator, for example of its $expr, counts as no
// match. With the action `warn`, logs a line instead and succeeds. With the level `moderate`,
// succeeds if `before` does not match the validator either. Fails with the error of
// query::check_interruption_now() (engine/query/interruption.h) if the operation was interrupted.
Status validate(const CollectionMetadata& metadata, std::optional<bson::View> before,
                bson::View after);

}  // namespace gridmount::local
