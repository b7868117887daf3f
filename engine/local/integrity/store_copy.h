// Makes a store from a snapshot of another one, for backups and to return free space to the file
// system.
//
// Thread-safety: copy_store() is thread-safe. compact_store() locks the store that it opens.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::local {

// Makes a store in `folder`, which must not exist or must be empty, with what `store` holds at this
// moment. The copy has the pages in order, without free ones. Writers continue meanwhile, but the
// store does not reuse the space they free before the copy is done. The copy is durable on return.
// On failure nothing is left of it. Records are copied as they are, damaged ones included:
// check_structure() finds them. `store` must come from open().
Status copy_store(engine::Store& store, const std::filesystem::path& folder);

struct Compaction {
  uint64_t bytes_before = 0;  // the size of data.mdb
  uint64_t bytes_after = 0;
};

// Returns the free pages of the store in `folder` to the file system. It makes a copy, checks the
// whole copy, and puts it in the place of data.mdb. Needs free space for the copy.
// After an interruption at any moment, by a kill or a power loss, the store is either the old or
// the new one, and the next opening for writing removes what is left of the copy. Fails with
// StoreLocked if the store is in use. Fails with DataCorruptionDetected and changes nothing if the
// store is damaged.
Result<Compaction> compact_store(const std::filesystem::path& folder);

}  // namespace gridmount::local
