// Replaces the data of a store by a copy in its folder kCopyFolder. FORMAT.md, "Compaction".
// Internal to this folder.
//
// Thread-safety: each function locks the store, or requires that the caller has locked it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/local/files/data_swap.h"
#include "engine/local/integrity/store_copy.h"

namespace gridmount::local {

struct Replacement {
  Compaction sizes;
  std::filesystem::path kept;  // the old data.mdb; empty if it was not kept, or if the file system
                               // has no hard links
};

// Deletes the copy. Only the process that has the store locked may do this, because another process
// may still be making its copy.
void remove_copy(const std::filesystem::path& folder);

// Replaces the data of the store in `folder` by the copy. The copy must be a complete, closed store
// with the contents that the store in `folder` had after `transaction`, its last transaction. The
// store in `folder` must be closed. Fails with StoreLocked, and deletes the copy, if the store is
// in use or has been used meanwhile. After another error or an interruption, the store has the old
// or the new data, or the next opening for writing finishes the replacement (finish_swap()).
Result<Replacement> install_copy(const std::filesystem::path& folder, uint64_t transaction,
                                 OldData old);

}  // namespace gridmount::local
