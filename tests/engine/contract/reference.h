// DBRefs: {$ref: collection, $id: value, $db: database}, a document that refers to another one.
// Source: MongoDB manual, "Database References".
//
// A manual reference, which stores the other document's _id in a field, needs no helper: use
// find_one({_id: value}).
//
// Thread-safety: values and functions without state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/store.h"

namespace gridmount::engine {

struct Reference {
  std::string collection;
  bson::Value id;
  std::string database = {};  // empty: the database that holds the reference

  // Fails with TypeMismatch unless `value` is a document that begins with $ref (a string) and $id,
  // in this order, followed by $db (a string) if present. Further fields are allowed and ignored.
  static Result<Reference> parse(bson::ValueView value);
  bson::Document document() const;
};

// Returns the document that the reference names, or nothing if it does not exist. `database` is the
// database from which the reference was read. Rule S5 of store.h applies to the view.
Result<std::optional<bson::View>> resolve(Store& store, Snapshot& snapshot,
                                          std::string_view database, const Reference& reference);

}  // namespace gridmount::engine
