// What a document must be to be stored, and its form: _id present and first.
// Source: MongoDB manual, "Documents: Document Limitations, The _id Field".
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/store.h"

namespace gridmount::local {

struct StoredDocument {
  bson::View view;                        // into the given document or into `rebuilt`
  std::optional<bson::Document> rebuilt;  // if the _id was generated or moved, or it is small
  bson::ValueView id;
};

// BadValue (too large, more than one _id), InvalidIdField (an _id of a type that cannot be
// one), DollarPrefixedFieldName (a name that begins with '$' in the _id).
Result<StoredDocument> stored_form(const engine::Namespace& ns, bson::View document,
                                   bool keep_empty_timestamps = false);

}  // namespace gridmount::local
