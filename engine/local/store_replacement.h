// Putting a copy that has been made of a store, in the folder kCopyFolder of it, in the place of
// its data. FORMAT.md, "Compaction". Internal to this folder.
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/error.h"
#include "engine/local/store_copy.h"

namespace gridmount::local {

// Only by who has the store locked: another one's copy may be in the making there.
void remove_copy(const std::filesystem::path& folder);

// The copy is a whole store that is closed, made of what the one in `folder` held after
// `transaction`, its last one. That must be closed; StoreLocked if it has been used meanwhile. The
// copy is gone afterwards, whatever this returns. Interrupted at any moment it leaves the one or
// the other.
Result<Compaction> take_copy(const std::filesystem::path& folder, uint64_t transaction);

// The second half of it: `folder` is locked by the caller, marked closed, and LMDB has let go of
// it.
Status swap_copy(const std::filesystem::path& folder);

}  // namespace gridmount::local
