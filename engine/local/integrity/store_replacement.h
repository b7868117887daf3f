// Replaces the data of a store by a copy in its folder kCopyFolder. FORMAT.md, "Compaction".
// Internal to this folder.
//
// Thread-safety: each function locks the store, or requires that the caller has locked it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/local/integrity/store_copy.h"

namespace gridmount::local {

// What happens to the old data.mdb. kKept keeps it with another name in the store's folder.
enum class OldData { kDropped, kKept };

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
// store in `folder` must be closed. Fails with StoreLocked if the store is in use or has been used
// meanwhile. Deletes the copy, also if it fails. After an interruption at any time the store has
// either the old or the new data.
Result<Replacement> install_copy(const std::filesystem::path& folder, uint64_t transaction,
                                 OldData old);

// Does the second half of install_copy(). The caller must have locked `folder` and marked it
// closed, and LMDB must not have it open. Returns the path of the old data.mdb, or an empty path as
// in Replacement::kept.
Result<std::filesystem::path> swap_copy(const std::filesystem::path& folder, OldData old);

}  // namespace gridmount::local
