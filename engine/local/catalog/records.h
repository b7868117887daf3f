// Reads and writes the records of a collection in the trees.
//
// Thread-safety: only the thread that uses the Snapshot or Transaction of the Trees may call these
// functions.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

// Returns the value of the record: its header and the document. The checksum is not verified (see
// document_of()). The view is valid as rule S5 of engine/store.h says. Returns nothing if there is
// no such record.
Result<std::optional<std::string_view>> get_record(const Trees& trees, const Keyspace& records,
                                                   RecordId id);

// Writes the document and its checksum into the record `id`. If the store's entries have checksums,
// the record also gets the checksum of its key (kKeyedRecord). `at_end` must be true for a new
// record with the highest id, and false for a record that exists. If the existing record has
// patches, the caller must call remove_patches() first (patched_records.h). With `patchable`, the
// record gets the kind kPatchableRecord, and the caller must put the record's patch list.
Status put_record(Trees& trees, const Keyspace& records, RecordId id, bson::View document,
                  bool at_end, bool patchable = false);

}  // namespace gridmount::local
