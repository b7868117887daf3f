// Makes a store from a snapshot of another store: for a backup, or to return free space to the file
// system.
//
// Thread-safety: both functions are thread-safe. compact_store() locks the store that it opens.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::local {

// Makes a store in `folder` with the current contents of `store`. `folder` must not exist or must
// be empty. The copy has no free pages, and its pages are in order. It has the format version
// kFormatVersion, even if `store` has an older one. Writers may continue meanwhile, but the space
// that they free is reused only after the copy. The copy is durable on return. After an error,
// removes what it has copied, unless a removal fails too. Does not check the records:
// check_structure() finds damaged records in the copy. Fails with NamespaceExists if `folder` is a
// store, with NotAStore if it has other files, and with StoreDamaged if a page of the trees is
// damaged. Fails with IllegalOperation if `store` does not come from open().
Status copy_store(engine::Store& store, const std::filesystem::path& folder);

struct Compaction {
  uint64_t bytes_before = 0;  // the size of data.mdb
  uint64_t bytes_after = 0;
};

// Returns the free pages of the store in `folder` to the file system. First finishes a swap that a
// repair has begun (data_swap.h), and recovers the store if that is necessary. Then makes a copy,
// checks the whole copy, and replaces data.mdb by it. Needs free disk space for the copy. After an
// interruption at any time, by a kill or a power loss, data.mdb is either the old file or the whole
// copy, and the next opening for writing deletes the folder of the copy, if it is still there.
// Fails with StoreLocked if the store is in use. If only the list of free pages is damaged, or
// lacks pages, the copy has a new list. Fails with DataCorruptionDetected or StoreDamaged and
// replaces nothing if anything else is damaged.
Result<Compaction> compact_store(const std::filesystem::path& folder);

}  // namespace gridmount::local
