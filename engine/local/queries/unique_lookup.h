// Finds the document, or the first of the documents, that a simple filter matches. A simple filter
// is {_id: x}, or has exactly one value for each field of an index. A simple filter need not be
// parsed, planned or matched.
//
// Thread-safety: functions without state. They must be called by the thread that uses the Snapshot
// or Transaction of the Trees.
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

// A unique index, and the key in it that only the matching document has. unique_lookup() finds both
// if the filter has at most four fields, all at the top level, if the value of each field is a
// number, string, binary, ObjectId, boolean, date or timestamp, and if the fields are exactly the
// parts of a unique index. This index must be readable (is_readable()), and neither a text index
// nor partial nor multikey, and the key must not be truncated. If a value is a string, the index
// must have the query's collation, which is `collator`. Otherwise unique_lookup() returns nothing.
// `index` points into the metadata, which must outlive the result.
struct UniqueLookup {
  const IndexMetadata* index;
  std::string key;
};
std::optional<UniqueLookup> unique_lookup(const CollectionMetadata& metadata, bson::View filter,
                                          const query::Collator* collator);

// Returns whether servers execute this find as a look-up by _id (IDHACK). They do if the filter
// has only an _id, whose value is not null, undefined, an array, a regular expression or a document
// of operators, and if `options` has nothing that servers exclude, such as a hint or a skip. The
// result is for explanations and statistics. The store may find the document in any way.
bool is_by_id(bson::View filter, const engine::FindOptions& options);

// Returns the record that the lookup finds, or nothing if no document matches. Fails with
// DataCorruptionDetected or StoreDamaged if the index is damaged at the key.
Result<std::optional<RecordId>> find_unique(const Trees& trees, const CollectionMetadata& metadata,
                                            const UniqueLookup& lookup);

// Like UniqueLookup, for an index that is not unique. `index` is the index that the planner would
// choose. Several documents can match. find_first() finds the document that a cursor would return
// first.
struct FirstLookup {
  const IndexMetadata* index;
  std::string low;  // the bytes with which the keys of all matching entries begin
};
std::optional<FirstLookup> first_lookup(const CollectionMetadata& metadata, bson::View filter,
                                        const query::Collator* collator);
// Returns the first matching record in the order of the index, or nothing if no document matches.
// Fails as find_unique() does.
Result<std::optional<RecordId>> find_first(const std::shared_ptr<Trees>& trees,
                                           const CollectionMetadata& metadata,
                                           const FirstLookup& lookup);

// Fails with DataCorruptionDetected unless `document`, which a lookup has found, has the filter's
// values. Entries of an index without checksums may be damaged, and may then have the id of any
// record.
Status confirm_found(const CollectionMetadata& metadata, const IndexMetadata& index,
                     bson::View filter, bson::View document);

}  // namespace gridmount::local
