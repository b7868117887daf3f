#include "engine/local/integrity/unopened_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/local/files/checkpoint_file.h"
#include "engine/local/files/pending_file.h"
#include "engine/local/files/redo_record.h"
#include "engine/local/files/store_folder.h"
#include "engine/system/system_error.h"

namespace gridmount::local {
namespace {

std::string lost_between(uint64_t found, uint64_t checkpointed) {
  if (found >= checkpointed) return {};
  const std::string first = std::to_string(found + 1);
  return "data.mdb has the state of transaction " + std::to_string(found) +
         ", which is older than its file checkpoint; the changes of " +
         (found + 1 == checkpointed
              ? "transaction " + first
              : "transactions " + first + " to " + std::to_string(checkpointed)) +
         " are lost";
}

}  // namespace

void UnopenedStore::Unmap::operator()(uint8_t* map) const {
  (void)::munmap(map, bytes);
}

Result<UnopenedStore> UnopenedStore::open(const std::filesystem::path& folder) {
  GM_ASSIGN(LockFile owner, LockFile::lock(folder, /*read_only=*/false, /*create=*/false));
  GM_ASSIGN(system::File data, system::File::open(folder / "data.mdb", O_RDONLY));
  GM_TRY(lock_data(data, folder, /*read_only=*/false));
  GM_TRY(read_fitting_format(folder));
  UnopenedStore store(std::move(owner), std::move(data));
  GM_TRY(store.find_metas(folder));
  GM_TRY(store.map_pages());
  return store;
}

// Follows the rules of D6. If data.mdb cannot be trusted, uses the meta pages of the checkpoint.
Status UnopenedStore::find_metas(const std::filesystem::path& folder) {
  GM_ASSIGN(const std::optional<OwnerMark> mark, owner_.read());
  GM_ASSIGN(const uint64_t inode, data_.inode());
  const bool closed = mark && mark->state == OwnerState::kClosed;
  const std::string boot_id = running_boot_id();
  const bool killed = mark && mark->state == OwnerState::kOpen && !boot_id.empty() &&
                      mark->boot_id == boot_id && mark->data_inode == inode;
  const Result<CheckpointFile> checkpoint =
      CheckpointFile::open(folder / "checkpoint", /*read_only=*/true);
  const bool has_slot = checkpoint && checkpoint->newest();
  const Result<MetaPair> found = read_meta_pair(data_);
  if (found && (closed || killed)) {
    // If the meta pages of the slot and of data.mdb are of the same transaction, the slot's are
    // certainly good.
    const bool is_saved = has_slot && checkpoint->newest()->current.txn == found->current.txn;
    metas_ = closed && is_saved ? *checkpoint->newest() : *found;
    if (has_slot) lost_ = lost_between(found->current.txn, checkpoint->newest()->current.txn);
    if (!killed) return {};
    system::File pending;
    if (system::File::open_errno(folder / "pending", O_RDONLY, pending) != 0) return {};
    GM_ASSIGN(PendingContents read_view, read_pending(pending, metas_.current.txn));
    changes_ = std::move(read_view.changes);
    return {};
  }
  if (!has_slot) {
    return fail(ErrorCode::kStoreDamaged, "store " + folder.string() +
                                              ": neither data.mdb nor the file checkpoint has "
                                              "valid meta pages; restore it from a backup");
  }
  metas_ = *checkpoint->newest();
  system::File redo;
  const bool has_log =
      checkpoint->newest_log() && system::File::open_errno(folder / "redo", O_RDONLY, redo) == 0;
  if (!has_log) return {};
  GM_ASSIGN(RedoContents read_view,
            read_redo(redo, &*checkpoint->newest_log(), metas_.current.txn, /*in_order=*/true));
  changes_ = std::move(read_view.changes);
  return {};
}

// Makes a private mapping with the meta pages found before. Missing pages at the end of the file
// are zeros.
Status UnopenedStore::map_pages() {
  const auto mapping_failed = [&] { return fail(system::system_error(errno, "mapping data.mdb")); };
  GM_ASSIGN(const uint64_t size, data_.size());
  const uint64_t bytes =
      std::max(metas_.current.data_bytes(), uint64_t{2} * metas_.current.page_bytes);
  void* const map = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return mapping_failed();
  map_ = Map(static_cast<uint8_t*>(map), Unmap{bytes});
  const auto unit = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t there = std::min(size, bytes) / unit * unit;
  if (there > 0 && ::mmap(map, there, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, data_.fd(), 0) == MAP_FAILED) {
    return mapping_failed();
  }
  for (size_t i = 0; i < metas_.bytes.size(); ++i) {
    std::memcpy(map_.get() + i * metas_.current.page_bytes, metas_.bytes[i].data(),
                metas_.bytes[i].size());
  }
  return {};
}

Result<PageReport> UnopenedStore::survey_pages(PageVisitor* visitor) const {
  return PageAccounting(map_.get(), metas_.current.page_bytes, visitor).run(metas_.current.txn);
}

Status UnopenedStore::mark_closed() const {
  return local::mark_closed(owner_, data_);
}

}  // namespace gridmount::local
