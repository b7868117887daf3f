// Checks whether a document can be stored, and converts it to its stored form, in which the _id is
// the first field.
// Source: MongoDB manual, "Documents: Document Limitations, The _id Field".
//
// Thread-safe: a function without state of its own.
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/store.h"

namespace gridmount::local {

struct StoredDocument {
  bson::View view;                        // refers to the document that was passed, or to `rebuilt`
  std::optional<bson::Document> rebuilt;  // set if fields were added, moved or filled in, or if the
                                          // document has at most 4 KiB
  bson::ValueView id;                     // a part of `view`
};

// Puts the _id first, and generates an _id if there is none. Replaces each Timestamp(0, 0) in a
// top-level field other than _id with the current time, unless `keep_empty_timestamps`. Fails with
// BadValue (more than 16 MiB, more than one _id), InvalidIdField (a type that an _id cannot have)
// or DollarPrefixedFieldName (a name within the _id begins with '$').
Result<StoredDocument> stored_form(const engine::Namespace& ns, bson::View document,
                                   bool keep_empty_timestamps = false);

}  // namespace gridmount::local
