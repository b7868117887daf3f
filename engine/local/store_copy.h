// Making a store out of another one's snapshot: backups, and giving free space back.
//
// Thread-safety: each function is one piece of work on stores that it opens or is given.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/store.h"

namespace gridmount::local {

// Makes a store in `folder`, which does not exist or is empty, with what `store` (which open()
// made) holds at this moment: its pages in order, without free ones. Writers go on meanwhile, and
// what they free is not reused until it is done. Durable when it returns; on failure nothing is
// left of it. Records are copied as they are, damaged ones too: check_structure() tells.
Status copy_store(engine::Store& store, const std::filesystem::path& folder);

struct Compaction {
  uint64_t bytes_before = 0;  // of data.mdb
  uint64_t bytes_after = 0;
};

// Gives the free pages of the store in `folder` back to the file system: a copy, which is read
// whole first, takes the place of data.mdb. Needs as much free space as the copy takes. The store
// must not be in use (StoreLocked). Interrupted at any moment, by a kill or a power loss, it leaves
// the store as it was or as it was to be; what is left of the copy then is removed when the store
// is next opened for writing. DataCorruptionDetected, and nothing is changed, if the store is
// damaged.
Result<Compaction> compact_store(const std::filesystem::path& folder);

}  // namespace gridmount::local
