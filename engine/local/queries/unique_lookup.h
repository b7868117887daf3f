// Finds the only document, or the first document, of a simple filter: {_id: x}, or an equality for
// every part of an index. A filter of this form need not be parsed, planned or matched.
//
// Thread-safety: functions without state, used by the thread that uses the Snapshot or Transaction
// of the Trees.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"
#include "engine/store.h"

namespace gridmount::local {

// A unique index, and the key in it that only the matching document has. unique_lookup() finds them
// if every condition of the filter is an equality of a top-level field and a scalar, the fields are
// exactly the parts of the index, and no document has an array in them. If a value is a string, the
// index must have the query's collation, which is `collator`. Otherwise it returns nothing.
struct UniqueLookup {
  const IndexMetadata* index;
  std::string key;
};
std::optional<UniqueLookup> unique_lookup(const CollectionMetadata& metadata, bson::View filter,
                                          const query::Collator* collator);

// Returns whether servers treat a find with this filter as a lookup by _id (IDHACK): the filter
// must be one _id value, and `options` must have nothing that a lookup cannot do, such as a hint or
// a skip. The result does not restrict how the store finds the document.
bool is_by_id(bson::View filter, const engine::FindOptions& options);

// Returns the record that the lookup finds, or nothing if no document matches.
Result<std::optional<RecordId>> find_unique(const Trees& trees, const CollectionMetadata& metadata,
                                            const UniqueLookup& lookup);

// Like UniqueLookup, but for an index that is not unique and that a plan would choose. Several
// documents can match, and find_first() finds the one that a cursor would return first.
struct FirstLookup {
  const IndexMetadata* index;
  std::string low;  // the bytes with which the keys of all matching entries begin
};
std::optional<FirstLookup> first_lookup(const CollectionMetadata& metadata, bson::View filter,
                                        const query::Collator* collator);
Result<std::optional<RecordId>> find_first(const std::shared_ptr<Trees>& trees,
                                           const CollectionMetadata& metadata,
                                           const FirstLookup& lookup);

// Fails with DataCorruptionDetected unless `document`, which a lookup has found, has the filter's
// values. Entries of an index without checksums may be damaged, and may then have the id of any
// record.
Status confirm_found(const CollectionMetadata& metadata, const IndexMetadata& index,
                     bson::View filter, bson::View document);

}  // namespace gridmount::local
