// The fast path from a filter to its one document, or to the first of its documents: {_id: x}, or a
// value for every part of an index. Such a filter needs no parsing, no plan and no matching.
//
// Thread-safety: functions without state. The Trees passed in belong to one Snapshot or
// Transaction.
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

// The key in the unique index that alone answers `filter`. Every field of the filter must be a
// top-level field equal to a scalar. The fields must be exactly the parts of the index, and no
// document may have an array under them.
struct UniqueLookup {
  const IndexMetadata* index;
  std::string key;
};
std::optional<UniqueLookup> unique_lookup(const CollectionMetadata& metadata, bson::View filter);

// Returns whether servers treat a find with this filter as a lookup by _id (IDHACK), whatever is
// done with the result: the filter must be a single _id value. It does not restrict how the store
// finds the document.
bool is_by_id(bson::View filter, const engine::FindOptions& options);

// Returns the record that the lookup finds, or nothing if no document matches.
Result<std::optional<RecordId>> find_unique(const Trees& trees, const CollectionMetadata& metadata,
                                            const UniqueLookup& lookup);

// Like UniqueLookup, for an index that is not unique, if a plan would choose it. Several documents
// can match. The lookup finds the one that a cursor would return first.
struct FirstLookup {
  const IndexMetadata* index;
  std::string low;  // the common beginning of the keys of the matching entries
};
std::optional<FirstLookup> first_lookup(const CollectionMetadata& metadata, bson::View filter);
Result<std::optional<RecordId>> find_first(const std::shared_ptr<Trees>& trees,
                                           const CollectionMetadata& metadata,
                                           const FirstLookup& lookup);

// Fails with DataCorruptionDetected unless the document found by a lookup has the filter's values.
// The check is needed because entries of an index without checksums may be damaged and name any
// record.
Status confirm_found(const CollectionMetadata& metadata, const IndexMetadata& index,
                     bson::View filter, bson::View document);

}  // namespace gridmount::local
