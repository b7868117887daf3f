// Checks a new index before its entries are made (index_build.h).
//
// Thread-safety: pure functions.
#pragma once

#include "engine/base/error.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/store.h"

namespace gridmount::local {

// Builds the metadata of a new index from its definition. Writes nothing, and assigns no keyspace.
// `metadata` is the metadata of the collection, or null if the collection does not exist yet.
//
// - If the definition has no name, the index gets the default name. An index on _id always gets the
//   name `_id_`, even if the definition has another name.
// - If the definition has no collation, the index gets the collation of the collection.
//
// Fails with CannotCreateIndex for a name with a NUL and for the name `*`. Fails with BadValue for
// an index on _id whose collation is not the collation of the collection, and for the name `_id_`
// of another index. Fails with the errors of query::complete_text_index(),
// query::check_wildcard_index(), query::check_combination() and index_key_spec().
Result<IndexMetadata> new_index(const engine::Namespace& ns, const CollectionMetadata* metadata,
                                const query::IndexDefinition& definition);

// Returns whether the collection already has the index. Fails with IndexKeySpecsConflict if another
// index has the same name: its keys, `unique`, `sparse`, partial filter or collation differ, for
// example (query::same_index()). Fails with IndexOptionsConflict if the same index has another name
// or other options (query::same_options()). Fails with CannotCreateIndex if the collection
// - already has another text index, and `index` is a text index;
// - is capped, and `index` is a TTL index;
// - already has 64 indexes.
Result<bool> has_index(const CollectionMetadata& metadata, const IndexMetadata& index);

// Returns whether the keys of the index are {_id: 1}. Such an index is the _id index of its
// collection, even if its definition has another name.
bool is_on_id(const IndexMetadata& index);

}  // namespace gridmount::local
