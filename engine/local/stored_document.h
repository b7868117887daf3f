// Checks whether a document can be stored, and brings it into its stored form: _id present and
// first.
// Source: MongoDB manual, "Documents: Document Limitations, The _id Field".
//
// Thread-safety: a pure function.
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/store.h"

namespace gridmount::local {

struct StoredDocument {
  bson::View view;                        // points into the document passed in or into `rebuilt`
  std::optional<bson::Document> rebuilt;  // set if fields were added or moved, or it is small
  bson::ValueView id;
};

// Fails with BadValue (too large, more than one _id), InvalidIdField (a type that an _id cannot
// have) or DollarPrefixedFieldName (a name within the _id begins with '$').
Result<StoredDocument> stored_form(const engine::Namespace& ns, bson::View document,
                                   bool keep_empty_timestamps = false);

}  // namespace gridmount::local
