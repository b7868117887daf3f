// Index definitions, as createIndexes takes them and listIndexes returns them. Source: MongoDB
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
  bson::Document keys;  // path: 1, -1 or "hashed", in key order
  bool unique = false;
  // The index leaves out documents that have none of the fields.
  bool sparse = false;
  // The index leaves out documents that do not match this filter.
  std::optional<bson::Document> partial_filter = {};
  // The index has one field. A document is removed this many seconds after the date in it.
  std::optional<int64_t> expire_after_seconds = {};
  // The index is kept up to date but not used for reading.
  bool hidden = false;
  // Stored and shown, but without effect: createIndexes always builds an index in one transaction.
  std::optional<bool> background = {};
  // Options of other kinds of indexes (`bits`, `default_language`, ...). Like servers, an index
  // stores and shows them, but they have no effect.
  bson::Document other_options = {};

  // Parses {key: {...}, name: ..., unique: ..., ...}. If there is no name, one is made from the
  // keys. `v` (1 or 2), `ns`, `_id` and `dropDups` are accepted and ignored, as by servers.
  // Fails with InvalidIndexSpecificationOption for any other field, and with CannotCreateIndex for
  // kinds of indexes and collations that are not supported.
  static Result<IndexDefinition> parse(bson::View specification);
  // Returns the definition as listIndexes shows it.
  bson::Document specification() const;
};

// Fails for invalid combinations of options, however the definition was made.
Status check_combination(const IndexDefinition& definition);

// Returns "files_id_1_n_1" for {files_id: 1, n: 1}.
std::string default_index_name(bson::View keys);

// Returns whether both definitions describe the same index: the same keys, documents and
// constraint.
bool same_index(const IndexDefinition& a, const IndexDefinition& b);
// Compares the remaining options, which can be changed on an existing index.
bool same_options(const IndexDefinition& a, const IndexDefinition& b);

}  // namespace gridmount::query
