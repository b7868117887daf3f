// Reads and writes records with patches: documents of which parts were overwritten without writing
// the whole record. FORMAT.md, chapter "Patches".
//
// Thread-safety: that of the Trees passed in, which belong to one Snapshot or Transaction.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/record.h"
#include "engine/local/format/record_patches.h"
#include "engine/local/storage/trees.h"
#include "engine/store.h"

namespace gridmount::local {

// Reads the list of a record of the kind kPatchableRecord. Fails with DataCorruptionDetected if the
// list is missing or damaged.
Result<PatchList> get_patch_list(const Trees& trees, const engine::Namespace& ns,
                                 const Keyspace& records, RecordId id);

// Returns a copy of `document`, which must be the document in the record, with the patches of the
// list. Fails with DataCorruptionDetected if a patch is missing, damaged or does not fit.
Result<bson::Document> apply_patches(const Trees& trees, const engine::Namespace& ns,
                                     const Keyspace& records, RecordId id, bson::View document,
                                     const PatchList& list);

// Returns the document of a record of any kind with all of its patches. The view refers to `value`
// if there are no patches, and otherwise to `patched`, which then has the document. Fails as
// document_of(), get_patch_list() and apply_patches() do.
Result<bson::View> whole_document_of(const Trees& trees, const engine::Namespace& ns,
                                     const Keyspace& records, RecordId id, std::string_view value,
                                     Verify verify, bson::Document& patched);

// Returns whether a patch or a list of patches is in use: the entry is sound, its record is of the
// kind kPatchableRecord, and the record's list has the place of the patch. The entry's key must
// have the form of a patch's key or of a list's key (is_of_patches()).
Result<bool> is_used_patch(const Trees& trees, const Keyspace& records, const TreeEntry& entry);

// The functions below need a write transaction. After each of them, views from the transaction are
// no longer valid.

// Removes the list and the patches of the record. Does nothing if the record does not exist or is
// of another kind. Fails as get_patch_list() does.
Status remove_patches(Trees& trees, const engine::Namespace& ns, const Keyspace& records,
                      RecordId id);
// Like put_record() for a new record with the highest id. The record is of the kind
// kPatchableRecord.
Status put_new_patchable_record(Trees& trees, const Keyspace& records, RecordId id,
                                bson::View document);
// Like put_record() for a record that exists. The record becomes one of the kind kPatchableRecord,
// and loses its patches.
Status put_patchable_record(Trees& trees, const engine::Namespace& ns, const Keyspace& records,
                            RecordId id, bson::View document);
// Writes patches, each with its place in the document, and the list. The list must have the places
// of all patches of the record, also of older patches.
Status put_patches(Trees& trees, const Keyspace& records, RecordId id,
                   const std::vector<std::pair<uint32_t, std::string>>& patches,
                   const PatchList& list);

}  // namespace gridmount::local
