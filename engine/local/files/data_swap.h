// Replaces the data file of a store by that of the copy in its folder kCopyFolder. FORMAT.md,
// "Compaction".
//
// Thread-safety: not thread-safe. The caller of begin_swap() and swap_copy() must have locked the
// store. finish_swap() locks it.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/base/error.h"

namespace gridmount::local {

// What happens to the old data.mdb. kKept keeps it with another name in the store's folder.
enum class OldData { kDropped, kKept };

// Makes the file `checkpoint` empty, and syncs it. If the swap is interrupted after this call, the
// next opening for writing, repair or compaction finishes the swap, because there is an empty
// checkpoint beside a complete copy. The copy must be a complete, closed store with all contents of
// the store in `folder`.
Status begin_swap(const std::filesystem::path& folder);

// Puts the copy's data file in place, and removes the rest of the copy. begin_swap() must have been
// called, the store must be locked and marked as closed, and LMDB must not have it open. Returns
// the path of the old data.mdb. The path is empty if `old` is kDropped, or if the file was not kept
// because it cannot have hard links. After an error, either the copy stays and finish_swap() can
// finish the swap, or the copy's data file is already in place.
Result<std::filesystem::path> swap_copy(const std::filesystem::path& folder, OldData old);

// Finishes a swap that was interrupted after begin_swap(), and keeps the old data. Returns nothing
// if there is no such swap, or else what swap_copy() has returned. If the folder has a complete
// copy, takes the locks of the store, and fails as LockFile::lock() and lock_data() do: with
// StoreLocked if the store is in use, for example. Also fails with errors of the device.
Result<std::optional<std::filesystem::path>> finish_swap(const std::filesystem::path& folder);

// Does what finish_swap() does. If there was such a swap, warns in the log. The warning says where
// the old data.mdb is, which takes space until the user removes it, or that it was not kept.
Status finish_swap_with_warning(const std::filesystem::path& folder);

// Returns whether a swap was interrupted after begin_swap(), so that only the copy may have the
// newest commits. During a compaction the answer may be true for a moment, unless the caller has
// locked the store.
bool is_swap_unfinished(const std::filesystem::path& folder);

}  // namespace gridmount::local
