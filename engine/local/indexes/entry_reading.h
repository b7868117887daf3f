// Which record an entry of an index names, and what is said of an entry that is damaged.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

// The record that an entry of the index names. DataCorruptionDetected if it is damaged.
Result<RecordId> sound_record_of_entry(const CollectionEntry& entry, const IndexEntry& index,
                                       const TreeEntry& found);
// The same whatever its checksum says; nothing if it is malformed.
std::optional<RecordId> record_of_entry(const IndexEntry& index, const TreeEntry& entry);
// The encoded values in an index entry's key.
std::string_view encoded_of_entry(const IndexEntry& index, std::string_view key);

// That the index has no such key. DataCorruptionDetected or StoreDamaged if that cannot be told.
Status prove_absent(const Trees& trees, const CollectionEntry& entry, const IndexEntry& index,
                    std::string_view key);
// The error with the names of collection and index.
Error of_index(Error error, const CollectionEntry& entry, const IndexEntry& index);

// DataCorruptionDetected: `where` in the collection is an entry that is not what it should be.
Error damaged_entry(const CollectionEntry& entry, std::string_view where, std::string_view how);

}  // namespace gridmount::local
