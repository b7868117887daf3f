#include "engine/local/store_replacement.h"

#include <fcntl.h>

#include <string>
#include <system_error>
#include <utility>

#include "engine/local/checkpoint_file.h"
#include "engine/local/file_operations.h"
#include "engine/local/meta_page.h"
#include "engine/local/store_folder.h"

namespace gridmount::local {
void remove_copy(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder / kCopyFolder, ignored);
}

Result<Compaction> take_copy(const std::filesystem::path& folder, uint64_t transaction) {
  // LMDB has let go of it. Who has it instead removes the copy.
  GM_ASSIGN(StoreFolder locked, StoreFolder::open(folder, {}, TestOptions()));
  GM_ASSIGN(const MetaPair metas, read_meta_pair(locked.data()));
  Compaction compaction;
  GM_ASSIGN(compaction.bytes_before, locked.data().size());
  // With something to replay the mark must stay (D13, D15), and with what another owner has left;
  // we have left nothing of that kind.
  const bool is_ours =
      locked.to_replay().empty() && locked.pending().empty() && metas.current.txn == transaction;
  if (is_ours) GM_TRY(locked.mark(OwnerState::kClosed));
  const Result<File> data = File::open(folder / kCopyFolder / "data.mdb", O_RDONLY);
  if (!is_ours || !data) {
    remove_copy(folder);
    return fail(ErrorCode::kStoreLocked, "store " + folder.string() +
                                             " has been used meanwhile; do this while nobody "
                                             "else does");
  }
  GM_ASSIGN(compaction.bytes_after, data->size());
  GM_TRY(swap_copy(folder));
  return compaction;
}

// In an order in which each step leaves a store: with either file, no checkpoint is wanted while
// the mark says closed, and an older file's would be wrong for the copy. LMDB's table of readers
// counts the transactions of the file it was made for.
Status swap_copy(const std::filesystem::path& folder) {
  const auto swap = [&]() -> Status {
    GM_TRY(CheckpointFile::create(folder / "checkpoint"));
    GM_TRY(sync_folder(folder));
    GM_TRY(remove_file(folder / "data.mdb-lock"));
    GM_TRY(rename_file(folder / kCopyFolder / "data.mdb", folder / "data.mdb"));
    return sync_folder(folder);
  };
  Status swapped = swap();
  remove_copy(folder);
  return swapped;
}

}  // namespace gridmount::local
