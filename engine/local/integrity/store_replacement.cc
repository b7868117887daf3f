#include "engine/local/integrity/store_replacement.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "engine/local/files/checkpoint_file.h"
#include "engine/local/files/meta_page.h"
#include "engine/local/files/store_folder.h"
#include "engine/system/file.h"

namespace gridmount::local {
namespace {

// Gives data.mdb a second name, which stays until a user removes it. Returns an empty path if the
// file system has no hard links. An interrupted earlier repair may already have made the name.
std::filesystem::path keep_data(const std::filesystem::path& folder) {
  constexpr int kNamesTried = 100;
  const std::filesystem::path data = folder / "data.mdb";
  std::filesystem::path kept = folder / "data.mdb.damaged";
  for (int i = 2; i < kNamesTried; ++i) {
    if (::link(data.c_str(), kept.c_str()) == 0) return kept;
    if (errno != EEXIST) break;
    std::error_code ignored;
    if (std::filesystem::equivalent(data, kept, ignored)) return kept;
    kept = folder / ("data.mdb.damaged." + std::to_string(i));
  }
  return {};
}

}  // namespace

void remove_copy(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder / kCopyFolder, ignored);
}

Result<Replacement> install_copy(const std::filesystem::path& folder, uint64_t transaction,
                                 OldData old) {
  // LMDB has closed the store. If another process has it locked now, that process removes the copy.
  GM_ASSIGN(StoreFolder locked, StoreFolder::open(folder, {}, TestOptions()));
  GM_ASSIGN(const MetaPair metas, read_meta_pair(locked.data()));
  Replacement replacement;
  GM_ASSIGN(replacement.sizes.bytes_before, locked.data().size());
  // If there is something to replay (D13, D15), the mark must stay. This process has left nothing
  // to replay, so it would come from another owner.
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
  GM_ASSIGN(replacement.kept, swap_copy(folder, old));
  return replacement;
}

// Each step leaves a usable store. While the mark is `closed`, neither data file needs a
// checkpoint, and the checkpoint of the old file would be wrong for the copy. LMDB's table of
// readers holds transaction numbers of the file it was made for, so it is removed.
Result<std::filesystem::path> swap_copy(const std::filesystem::path& folder, OldData old) {
  std::filesystem::path kept;
  const auto swap = [&]() -> Status {
    GM_TRY(CheckpointFile::create(folder / "checkpoint"));
    GM_TRY(system::sync_folder(folder));
    GM_TRY(system::remove_file(folder / "data.mdb-lock"));
    if (old == OldData::kKept) kept = keep_data(folder);
    GM_TRY(system::rename_file(folder / kCopyFolder / "data.mdb", folder / "data.mdb"));
    return system::sync_folder(folder);
  };
  Status swapped = swap();
  remove_copy(folder);
  if (!swapped) return fail(std::move(swapped).error());
  return kept;
}

}  // namespace gridmount::local
