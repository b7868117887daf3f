// Putting a copy that has been made of a store, in the folder kCopyFolder of it, in the place of
// its data. FORMAT.md, "Compaction". Internal to this folder.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/local/store_copy.h"

namespace gridmount::local {

// What becomes of data.mdb: another name in the store's folder is kept of one that was damaged.
enum class OldData { kDropped, kKept };

struct Replacement {
  Compaction sizes;
  std::filesystem::path kept;  // empty where it is not, or where the file system has no links
};

// Only by who has the store locked: another one's copy may be in the making there.
void remove_copy(const std::filesystem::path& folder);

// The copy is a whole store that is closed, made of what the one in `folder` held after
// `transaction`, its last one. That must be closed; StoreLocked if it has been used meanwhile. The
// copy is gone afterwards, whatever this returns. Interrupted at any moment it leaves the one or
// the other.
Result<Replacement> take_copy(const std::filesystem::path& folder, uint64_t transaction,
                              OldData old);

// The second half of it: `folder` is locked by the caller, marked closed, and LMDB has let go of
// it.
// Where the old data is kept.
Result<std::filesystem::path> swap_copy(const std::filesystem::path& folder, OldData old);

}  // namespace gridmount::local
