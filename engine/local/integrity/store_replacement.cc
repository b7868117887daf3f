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

// A second name for data.mdb, until somebody removes it; none where there are no links. An earlier
// repair that was interrupted may have given it one.
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

Result<Replacement> take_copy(const std::filesystem::path& folder, uint64_t transaction,
                              OldData old) {
  // LMDB has let go of it. Who has it instead removes the copy.
  GM_ASSIGN(StoreFolder locked, StoreFolder::open(folder, {}, TestOptions()));
  GM_ASSIGN(const MetaPair metas, read_meta_pair(locked.data()));
  Replacement replacement;
  GM_ASSIGN(replacement.sizes.bytes_before, locked.data().size());
  // With something to replay the mark must stay (D13, D15), and with what another owner has left;
  // we have left nothing of that kind.
  const bool is_ours =
      locked.to_replay().empty() && locked.pending().empty() && metas.current.txn == transaction;
  if (is_ours) GM_TRY(locked.mark(OwnerState::kClosed));
  const Result<system::File> data = system::File::open(folder / kCopyFolder / "data.mdb", O_RDONLY);
  if (!is_ours || !data) {
    remove_copy(folder);
    return fail(ErrorCode::kStoreLocked, "store " + folder.string() +
                                             " has been used meanwhile; do this while nobody "
                                             "else does");
  }
  GM_ASSIGN(replacement.sizes.bytes_after, data->size());
  GM_ASSIGN(replacement.kept, swap_copy(folder, old));
  return replacement;
}

// In an order in which each step leaves a store: with either file, no checkpoint is wanted while
// the mark says closed, and an older file's would be wrong for the copy. LMDB's table of readers
// counts the transactions of the file it was made for.
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
