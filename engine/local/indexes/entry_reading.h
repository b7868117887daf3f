// Reads which record an index entry names, and makes the errors for damaged entries.
//
// Thread-safety: functions without state.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

// Returns the record that the entry of the index names. Fails with DataCorruptionDetected if the
// entry is damaged.
Result<RecordId> sound_record_of_entry(const CollectionMetadata& metadata,
                                       const IndexMetadata& index, const TreeEntry& found);
// Like sound_record_of_entry(), but does not check the checksum. Returns nothing if the entry is
// malformed.
std::optional<RecordId> record_of_entry(const IndexMetadata& index, const TreeEntry& entry);
// Returns the encoded values in the key of an index entry.
std::string_view encoded_of_entry(const IndexMetadata& index, std::string_view key);

// Verifies that the index has no such key. Fails with DataCorruptionDetected or StoreDamaged if
// damage makes that uncertain.
Status prove_absent(const Trees& trees, const CollectionMetadata& metadata,
                    const IndexMetadata& index, std::string_view key);
// Returns the error with the names of collection and index added.
Error of_index(Error error, const CollectionMetadata& metadata, const IndexMetadata& index);

// Returns DataCorruptionDetected. `where` names the damaged entry within the collection, `how`
// says what is wrong.
Error damaged_entry(const CollectionMetadata& metadata, std::string_view where,
                    std::string_view how);

}  // namespace gridmount::local
