// The error for a duplicate key of a unique index.
//
// Thread-safety: a pure function.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/collection_metadata.h"

namespace gridmount::local {

// Returns "E11000 duplicate key error collection: db.c index: a_1 dup key: { a: 5 }" with the
// details {keyPattern, keyValue}. If the index has a collation, the message and the details also
// have the collation, and show a string by its sort key in hexadecimal. `encoded` is the duplicate
// key, and `document` has it.
Error duplicate_key(const CollectionMetadata& metadata, const IndexMetadata& index,
                    bson::View document, std::string_view encoded);

}  // namespace gridmount::local
