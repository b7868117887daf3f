// What has to hold of an index that is to be made, however it is filled.
#pragma once

#include "engine/base/error.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/store.h"

namespace gridmount::local {

// The index of that definition, under its name or the usual one, without a range yet.
// CannotCreateIndex and the errors of what it is made of.
Result<IndexEntry> new_index(const engine::Namespace& ns, const query::IndexDefinition& definition);

// Whether the collection has it already. IndexKeySpecsConflict or IndexOptionsConflict if something
// else has its name or its keys, CannotCreateIndex if there are too many, or if documents of a
// capped collection would expire.
Result<bool> has_index(const CollectionEntry& entry, const IndexEntry& index);

}  // namespace gridmount::local
