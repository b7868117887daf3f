#include "engine/local/files/data_swap.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "engine/base/log.h"
#include "engine/local/files/checkpoint_file.h"
#include "engine/local/files/lock_file.h"
#include "engine/local/files/store_folder.h"
#include "engine/system/file.h"
#include "engine/system/system_error.h"

namespace gridmount::local {
namespace {

// Returns true if link() sets this errno where the file cannot have hard links, however often it is
// called. After another error, such as that of a full disk, a later call can succeed.
bool has_no_links(int code) {
  return code == EPERM || code == EACCES || code == EOPNOTSUPP || code == ENOSYS ||
         code == EMLINK || code == EXDEV || code == EINVAL;
}

// Gives data.mdb a second name, which stays until a user removes it. Returns an empty path if the
// file cannot have hard links. An earlier repair that was interrupted may already have made the
// second name.
Result<std::filesystem::path> keep_data(const std::filesystem::path& folder) {
  const std::filesystem::path data = folder / "data.mdb";
  std::filesystem::path kept = folder / "data.mdb.damaged";
  for (int i = 2; ::link(data.c_str(), kept.c_str()) != 0; ++i) {
    const int code = errno;
    if (has_no_links(code)) return std::filesystem::path();
    if (code != EEXIST) return fail(system::system_error(code, "linking " + kept.string()));
    std::error_code ignored;
    if (std::filesystem::equivalent(data, kept, ignored)) return kept;
    kept = folder / ("data.mdb.damaged." + std::to_string(i));
  }
  return kept;
}

bool is_closed(const LockFile& owner) {
  const Result<std::optional<OwnerMark>> mark = owner.read();
  return mark && *mark && (*mark)->state == OwnerState::kClosed;
}

// Returns whether the copy is a whole store. The copy is marked as closed when everything in it is
// durable.
bool is_complete(const std::filesystem::path& copy) {
  std::error_code ignored;
  if (!std::filesystem::exists(copy / "data.mdb", ignored) ||
      !std::filesystem::exists(copy / "format", ignored)) {
    return false;
  }
  const Result<LockFile> owner = LockFile::look(copy);
  return owner && is_closed(*owner);
}

}  // namespace

Status begin_swap(const std::filesystem::path& folder) {
  GM_TRY(CheckpointFile::create(folder / "checkpoint"));
  return system::sync_folder(folder);
}

// Each step leaves a usable store. While the mark is `closed`, neither data file needs a
// checkpoint, and the checkpoint of the old file would be wrong for the copy. LMDB's table of
// readers has transaction numbers of the old data file, so it is removed.
Result<std::filesystem::path> swap_copy(const std::filesystem::path& folder, OldData old) {
  std::filesystem::path kept;
  GM_TRY(system::remove_file(folder / "data.mdb-lock"));
  if (old == OldData::kKept) {
    GM_ASSIGN(kept, keep_data(folder));
  }
  GM_TRY(system::rename_file(folder / kCopyFolder / "data.mdb", folder / "data.mdb"));
  GM_TRY(system::sync_folder(folder));
  std::error_code ignored;
  std::filesystem::remove_all(folder / kCopyFolder, ignored);
  return kept;
}

bool is_swap_unfinished(const std::filesystem::path& folder) {
  if (!is_complete(folder / kCopyFolder)) return false;
  const Result<CheckpointFile> checkpoint =
      CheckpointFile::open(folder / "checkpoint", /*read_only=*/true);
  return checkpoint && !checkpoint->newest();
}

Result<std::optional<std::filesystem::path>> finish_swap(const std::filesystem::path& folder) {
  using Finished = std::optional<std::filesystem::path>;
  const std::filesystem::path copy = folder / kCopyFolder;
  // The lock is needed only if the copy is complete.
  if (!is_complete(copy)) return Finished();
  GM_ASSIGN(const LockFile owner, LockFile::lock(folder, /*read_only=*/false, /*create=*/false));
  GM_ASSIGN(const system::File data, system::File::open(folder / "data.mdb", O_RDONLY));
  GM_TRY(lock_data(data, folder, /*read_only=*/false));
  if (!is_swap_unfinished(folder)) return Finished();
  // After a kill, the empty checkpoint and the mark `closed` may be only in the kernel's memory. So
  // write and sync both again: a power loss must not leave the new data.mdb beside the old
  // checkpoint or the old mark.
  GM_TRY(begin_swap(folder));
  GM_TRY(mark_closed(owner, data));
  GM_ASSIGN(std::filesystem::path kept, swap_copy(folder, OldData::kKept));
  return Finished(std::move(kept));
}

Status finish_swap_with_warning(const std::filesystem::path& folder) {
  GM_ASSIGN(const std::optional<std::filesystem::path> finished, finish_swap(folder));
  if (!finished) return {};
  log::warn(
      "store {}: data.mdb was replaced, which an interrupted repair or compaction had begun; {}",
      folder.string(),
      finished->empty() ? "the old file was not kept, because it cannot have a hard link"
                        : "remove the old file, " + finished->string() +
                              ", when 'gridstore check' finds no problems");
  return {};
}

}  // namespace gridmount::local
