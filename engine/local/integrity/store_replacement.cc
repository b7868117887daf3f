#include "engine/local/integrity/store_replacement.h"

#include <fcntl.h>

#include <string>
#include <system_error>
#include <utility>

#include "engine/local/files/meta_page.h"
#include "engine/local/files/store_folder.h"
#include "engine/system/file.h"

namespace gridmount::local {

void remove_copy(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder / kCopyFolder, ignored);
}

Result<Replacement> install_copy(const std::filesystem::path& folder, uint64_t transaction,
                                 OldData old) {
  // LMDB has closed the store. If another process has locked the store meanwhile, that process
  // removes the copy.
  GM_ASSIGN(StoreFolder locked, StoreFolder::open(folder, {}, TestOptions()));
  GM_ASSIGN(const MetaPair metas, read_meta_pair(locked.data()));
  Replacement replacement;
  GM_ASSIGN(replacement.sizes.bytes_before, locked.data().size());
  // If there is something to replay (D13, D15), the mark must stay. This process has left nothing
  // to replay, so another owner would have left it.
  const bool is_ours =
      locked.to_replay().empty() && locked.pending().empty() && metas.current.txn == transaction;
  if (is_ours) GM_TRY(locked.mark(OwnerState::kClosed));
  const Result<system::File> data = system::File::open(folder / kCopyFolder / "data.mdb", O_RDONLY);
  if (!is_ours || !data) {
    remove_copy(folder);
    return fail(
        ErrorCode::kStoreLocked,
        "store " + folder.string() + " was used meanwhile; repeat this while nobody else uses it");
  }
  GM_ASSIGN(replacement.sizes.bytes_after, data->size());
  GM_TRY(begin_swap(folder));
  GM_ASSIGN(replacement.kept, swap_copy(folder, old));
  return replacement;
}

}  // namespace gridmount::local
