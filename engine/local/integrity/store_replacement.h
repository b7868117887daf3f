// Replaces the data of a store by the copy in its subfolder kCopyFolder. FORMAT.md, "Compaction".
// Internal to this folder.
//
// Thread-safety: install_copy() locks the store. The caller of remove_copy() must have locked it.
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

// Deletes the copy, and ignores errors. The caller must have locked the store. Otherwise this
// function could delete a copy that another process is making.
void remove_copy(const std::filesystem::path& folder);

// Replaces the data of the store in `folder` by the copy. The copy must be a complete, closed store
// with all contents of the store in `folder`. This process must have closed the store in `folder`,
// and `transaction` must be the number of its last transaction. Fails with StoreLocked if another
// process has the store locked. The copy is then deleted when that process or a later one opens the
// store for writing. Also fails with StoreLocked, and deletes the copy, if the store has changed
// since `transaction`, or if the copy cannot be read. After another error or an interruption, the
// store has the old or the new data, or the next opening for writing or the next repair finishes
// the replacement (finish_swap()).
Result<Replacement> install_copy(const std::filesystem::path& folder, uint64_t transaction,
                                 OldData old);

}  // namespace gridmount::local
