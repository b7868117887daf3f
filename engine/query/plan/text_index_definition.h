// The definition of a text index. A user names the fields with texts in the key: {a: "text", b:
// "text"}, or {"$**": "text"} for all fields. In the complete definition, the key has {_fts:
// "text", _ftsx: 1} in the place of these fields, and the option `weights` has the names of these
// fields.
//
// Source: MongoDB manual, "Text Indexes", and the definitions that mongod 6.0.5 shows.
//
// Thread-safety: functions without state.
#pragma once

#include "engine/base/error.h"
#include "engine/query/plan/index_definition.h"

namespace gridmount::query {

// Returns whether `part`, one field of an index's key, has the value "text".
bool is_text_part(const bson::Element& part);
// Returns whether any field of the index's key has the value "text".
bool is_text_index(const IndexDefinition& index);

// If the index is a text index, completes its definition: changes the key as described above, and
// sets all of {weights, default_language, language_override, textIndexVersion} among the other
// options. A definition that is already complete keeps its meaning. Changes nothing if the index is
// not a text index. A field without a weight gets the weight 1. The fraction of a weight is cut
// off. Fails with CannotCreateIndex for
// - fields with texts that are not side by side; another field that is hashed, or whose direction
//   is not 1 or -1; _fts without _ftsx or without weights;
// - an invalid path, a weight that is not a number from 1 to less than 100,000, a language that
//   servers do not know, an invalid name in `language_override`;
// - a `textIndexVersion` other than 3 (servers also have the older versions 1 and 2);
// - a text index that is unique, or has expireAfterSeconds (which servers allow);
// - a text index with a collation;
// - an index that is not a text index, but has `weights` or the field _fts.
Status complete_text_index(IndexDefinition& index);

}  // namespace gridmount::query
