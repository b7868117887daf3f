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
  std::string database = {};  // empty: the one the reference is stored in

  // TypeMismatch unless `value` is a document that begins with $ref (a string) and $id, in this
  // order, with $db (a string) behind them if it is there. Further fields are allowed and left out.
  static Result<Reference> parse(bson::ValueView value);
  bson::Document document() const;
};

// The document a reference names, nothing if there is none. `database` is where the reference was
// read. Rule S5 of store.h holds for the view.
Result<std::optional<bson::View>> resolve(Store& store, Snapshot& snapshot,
                                          std::string_view database, const Reference& reference);

}  // namespace gridmount::engine
