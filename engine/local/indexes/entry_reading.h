// Reads the id of the record that an index entry belongs to, and makes the errors for damaged
// entries.
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

// Returns the id of the record that the entry belongs to. Fails with DataCorruptionDetected if the
// entry is damaged.
Result<RecordId> verified_record_id_of_entry(const CollectionMetadata& metadata,
                                             const IndexMetadata& index, const TreeEntry& found);
// Like verified_record_id_of_entry(), but does not verify the checksum. Returns nothing if the
// entry is too short.
std::optional<RecordId> record_id_of_entry(const IndexMetadata& index, const TreeEntry& entry);
// Returns the encoded values in the key of an index entry, as a view of `key`. `key` must be the
// key of an entry for which record_id_of_entry() returns an id.
std::string_view encoded_values_of_entry(const IndexMetadata& index, std::string_view key);

// Proves that the index does not have `key`. May be called only after a search has not found the
// key. Fails with StoreDamaged if the index has the key nevertheless, or if a damaged page prevents
// the proof. Succeeds without a proof for an index without checksums.
Status prove_absent(const Trees& trees, const CollectionMetadata& metadata,
                    const IndexMetadata& index, std::string_view key);
// Returns the error with a message that also names the collection and the index.
Error with_index_name(Error error, const CollectionMetadata& metadata, const IndexMetadata& index);

// Returns DataCorruptionDetected with the message "<collection>: <where> holds <how>; run ...".
// Examples: `where` is "the index 'a_1'", and `how` is "an entry of the wrong form".
Error damaged_entry(const CollectionMetadata& metadata, std::string_view where,
                    std::string_view how);

}  // namespace gridmount::local
