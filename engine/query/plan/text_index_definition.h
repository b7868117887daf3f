// The definition of a text index. The user names the fields with texts: {a: "text", b: "text"}, or
// {"$**": "text"} for all fields. The complete definition has {_fts: "text", _ftsx: 1} in their
// place, and their names among the weights.
//
// Source: MongoDB manual, "Text Indexes", and the definitions that mongod 6.0.5 shows.
//
// Thread-safety: pure functions.
#pragma once

#include "engine/base/error.h"
#include "engine/query/plan/index_definition.h"

namespace gridmount::query {

// Returns whether the field of an index's key has the kind "text".
bool is_text_part(const bson::Element& part);
// Returns whether a field of the index's key has the kind "text".
bool is_text_index(const IndexDefinition& index);

// If the index is a text index, completes its definition: its key as above, and among the other
// options {weights, default_language, language_override, textIndexVersion}. Does nothing if the
// definition is complete. Fails with CannotCreateIndex for
// - fields with texts that are not side by side, another field whose direction is not 1 or -1, or
//   that is hashed; _fts without _ftsx or without weights;
// - an invalid path, a weight that is no number greater than 0 and less than 100,000, a language
//   that servers do not know, an invalid name of the field with the language;
// - `textIndexVersion` other than 3 (servers also have the older versions 1 and 2);
// - a text index that is unique, or has expireAfterSeconds (which servers allow);
// - a collation; `weights` in an index that is no text index.
Status complete_text_index(IndexDefinition& index);

}  // namespace gridmount::query
