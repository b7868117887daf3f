// Checks a new index before its entries are made (index_build.h).
//
// Thread-safety: pure functions.
#pragma once

#include "engine/base/error.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/store.h"

namespace gridmount::local {

// Returns the index with that definition, still without a keyspace. If the definition has no name,
// the index gets the default name. An index on _id gets the name `_id_`, whatever its definition
// says. Fails with CannotCreateIndex for a name with a NUL and for the name `*`, and with the
// errors of query::complete_text_index(), query::check_combination() and index_key_spec().
// `metadata` is that of the collection, or null if it does not exist yet. The index has its
// collation if the definition has none. Fails with BadValue for an index on _id whose collation is
// not the one of the collection.
Result<IndexMetadata> new_index(const engine::Namespace& ns, const CollectionMetadata* metadata,
                                const query::IndexDefinition& definition);

// Returns whether the collection already has the index. Fails with IndexKeySpecsConflict or
// IndexOptionsConflict if a different index has the same name or keys. Fails with CannotCreateIndex
// if the collection has 64 indexes already, or if `index` is a TTL index and the collection is
// capped.
Result<bool> has_index(const CollectionMetadata& metadata, const IndexMetadata& index);

// Returns whether the only key of the index is _id, so that it is the _id index whatever its name.
bool is_on_id(const IndexMetadata& index);

}  // namespace gridmount::local
