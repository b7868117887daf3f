// The checks of a new index, before it is filled (index_build.h).
//
// Thread-safety: pure functions.
#pragma once

#include "engine/base/error.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/store.h"

namespace gridmount::local {

// Returns the index of that definition, under its name or the default one, without a keyspace yet.
// Fails with CannotCreateIndex, or with the errors of parsing its keys and options.
Result<IndexMetadata> new_index(const engine::Namespace& ns,
                                const query::IndexDefinition& definition);

// Returns whether the collection already has the index. Fails with IndexKeySpecsConflict or
// IndexOptionsConflict if another index has its name or keys. Fails with CannotCreateIndex if the
// collection has too many indexes, or if the index would let documents of a capped collection
// expire.
Result<bool> has_index(const CollectionMetadata& metadata, const IndexMetadata& index);

// Returns whether the only key of the index is _id, so that it is the _id index whatever its name.
bool is_on_id(const IndexMetadata& index);

}  // namespace gridmount::local
