// Indexes as createIndexes describes them and listIndexes shows them.
// Source: MongoDB manual, "createIndexes", "Index Properties".
// Thread-safety: as for any value type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

struct IndexDefinition {
  std::string name;
  bson::Document keys;  // path: 1, -1 or "hashed", in order
  bool unique = false;
  // Documents that have none of the fields are not in the index.
  bool sparse = false;
  // Documents that do not match it are not in the index.
  std::optional<bson::Document> partial_filter = {};
  // Documents are removed when this long has passed since the date in the (only) field.
  std::optional<int64_t> expire_after_seconds = {};
  // Kept up to date, but not used for reading.
  bool hidden = false;
  // Given, and shown; an index is built in the transaction that creates it all the same.
  std::optional<bool> background = {};

  // {key: {...}, name: ..., unique: ..., ...}. Without a name one is made of the keys.
  // `v` (1 or 2), `ns` and `dropDups`, which servers have not heeded since 3.0, may be given and
  // change nothing. Everything else is refused by name:
  // InvalidIndexSpecificationOption, and CannotCreateIndex for kinds of indexes and collations that
  // are not supported.
  static Result<IndexDefinition> parse(bson::View specification);
  // As listIndexes shows it.
  bson::Document specification() const;
};

// Refuses combinations of options, of whatever source the definition is.
Status check_combination(const IndexDefinition& definition);

// "files_id_1_n_1" for {files_id: 1, n: 1}.
std::string default_index_name(bson::View keys);

// Whether an index of one of them is one of the other: the same keys, and the same documents under
// the same constraint.
bool same_index(const IndexDefinition& a, const IndexDefinition& b);
// The other options, which an index can change.
bool same_options(const IndexDefinition& a, const IndexDefinition& b);

}  // namespace gridmount::query
