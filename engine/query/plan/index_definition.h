// The definition of an index, which createIndexes takes and listIndexes returns. Source: MongoDB
// manual, "createIndexes", "Index Properties". Thread-safety: a plain value type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

struct IndexDefinition {
  std::string name;
  // {path: 1, -1 or "hashed", ...}, in the order of the index's fields. In a text index,
  // {_fts: "text", _ftsx: 1} stands for the fields with texts.
  bson::Document keys;
  bool unique = false;
  // The index leaves out documents that have none of the fields.
  bool sparse = false;
  // The index leaves out documents that do not match this filter.
  std::optional<bson::Document> partial_filter = {};
  // For a TTL index, which has one field: a document is removed this many seconds after the date in
  // this field.
  std::optional<int64_t> expire_after_seconds = {};
  // The index is updated by writes, but not used by reads.
  bool hidden = false;
  // The option `background`. It is stored and shown, but has no effect: createIndexes always builds
  // an index in one transaction.
  std::optional<bool> background = {};
  // The collation by which strings are compared in this index: the complete document that
  // Collation::document() returns. Empty: strings are compared as bytes. Unset: createIndexes takes
  // the collation of the collection. The definition of an existing index always has a collation.
  std::optional<bson::Document> collation = {};
  // The options of a text index (text_index_definition.h), the wildcardProjection of a wildcard
  // index (wildcard_index_definition.h), and options of other kinds of indexes (`bits`, ...). As on
  // servers, options of other kinds are stored and shown, but have no effect.
  bson::Document other_options = {};

  // Parses {key: {...}, name: ..., unique: ..., ...}. If there is no name, makes one from the keys.
  // Ignores `v` (1 or 2), `ns`, `_id` and `dropDups`, as servers do. index_key_spec() refuses kinds
  // of indexes that are not supported; parse() does not. Fails with TypeMismatch for a value of a
  // wrong type, and with FailedToParse if there is no `key`. Fails with CannotCreateIndex for an
  // empty name, another version, version 1 with a collation, `weights` that are a string, an
  // expireAfterSeconds that is no number from 0 to 2147483647, and a storageEngine that is no
  // document or is empty. Fails with BadValue for an empty collation, and with
  // InvalidIndexSpecificationOption for any other field. Also fails as Collation::parse(),
  // complete_text_index(), check_wildcard_index() and check_combination() do.
  static Result<IndexDefinition> parse(bson::View specification);
  // Returns the definition as listIndexes shows it.
  bson::Document specification() const;

  // Returns the collation, or null if it is unset or strings are compared as bytes.
  const bson::Document* own_collation() const {
    return collation && !collation->view().empty() ? &*collation : nullptr;
  }
};

// Fails for an invalid combination of options, also in a definition that parse() has not made: with
// CannotCreateIndex for a partial index that is sparse too, and for a TTL index on _id or on
// several fields; with BadValue for a hidden index on _id, and with InvalidIndexSpecificationOption
// for a sparse or partial index on _id that is not hidden.
Status check_combination(const IndexDefinition& definition);

// Returns the default name of an index with these keys: "files_id_1_n_1" for {files_id: 1, n: 1}.
std::string default_index_name(bson::View keys);

// Returns whether both definitions describe the same index: the keys, `unique`, `sparse`,
// partial_filter, the wildcardProjection and the collation are the same.
bool same_index(const IndexDefinition& a, const IndexDefinition& b);
// Returns whether expire_after_seconds and other_options are the same. Ignores `hidden` and
// `background`: like servers, createIndexes does nothing if only these differ between an existing
// index and the requested one.
bool same_options(const IndexDefinition& a, const IndexDefinition& b);

}  // namespace gridmount::query
