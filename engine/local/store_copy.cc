#include "engine/local/store_copy.h"

#include <fcntl.h>

#include <memory>
#include <string>
#include <utility>

#include "engine/local/ascending_cursor.h"
#include "engine/local/environment.h"
#include "engine/local/file_operations.h"
#include "engine/local/local_store.h"
#include "engine/local/meta_page.h"
#include "engine/local/store.h"
#include "engine/local/store_folder.h"
#include "engine/local/trees.h"

namespace gridmount::local {
namespace {

// Fills the store that `made` begins. Its last step makes it one.
Status fill(StoreFolder& made, Environment& environment) {
  GM_TRY(environment.copy_pages(made.data()));
  GM_TRY(made.data().sync_data());
  // A store that is closed needs no checkpoint; the mark is there before the folder is a store.
  GM_TRY(made.mark(OwnerState::kClosed));
  return made.finish_creation();
}

Status copy(Environment& environment, const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder / "format", error)) {
    return fail(ErrorCode::kNamespaceExists,
                folder.string() + " is a store already; name a folder that does not exist");
  }
  OpenOptions options;
  options.create = true;
  GM_ASSIGN(StoreFolder made, StoreFolder::open(folder, options, TestOptions()));
  if (Status status = fill(made, environment); !status) {
    made.abandon_creation();
    return fail(std::move(status).error().with_context("making the copy " + folder.string()));
  }
  return {};
}

// What one transaction of copy_entries() writes.
constexpr size_t kBytesAtOnce = 16 * 1024 * 1024;

// One tree, entry by entry.
Status copy_tree(const std::shared_ptr<Trees>& from, MDB_dbi source, Environment& made,
                 const TreeHandles& handles, MDB_dbi target) {
  AscendingCursor cursor(from, source);
  // LMDB has no empty keys, and none longer than 511 bytes.
  cursor.set_range(std::string(1, '\0'), std::string(512, '\xFF'));
  for (bool done = false; !done;) {
    GM_ASSIGN(WriteTransaction transaction, made.begin_write());
    Trees trees(transaction.lmdb(), handles, /*writable=*/true);
    const auto put_some = [&]() -> Result<bool> {
      for (size_t bytes = 0; bytes < kBytesAtOnce;) {
        GM_ASSIGN(const std::optional<TreeEntry> entry, cursor.next());
        if (!entry) return true;
        GM_TRY(trees.put(target, entry->key, entry->value));
        bytes += entry->key.size() + entry->value.size();
      }
      return false;
    };
    const Result<bool> put = put_some();
    trees.end();
    if (!put) return fail(put.error());
    done = *put;
    GM_TRY(transaction.commit());
  }
  return {};
}

TreeHandles handles_of(const Environment& environment) {
  TreeHandles handles{environment.catalog(), {}};
  for (int i = 0; i < Environment::kTreeCount; ++i) handles.ranges.push_back(environment.tree(i));
  return handles;
}

// As copy(), from the trees alone: LMDB's copy of pages refuses where their number is not that of
// the trees and the list of free pages together. What an interruption leaves looks like a store.
Status copy_entries(Environment& environment, const std::filesystem::path& folder) {
  OpenOptions options;
  options.create = true;
  GM_ASSIGN(const std::unique_ptr<Environment> made, Environment::open(folder, options));
  const TreeHandles sources = handles_of(environment);
  const TreeHandles targets = handles_of(*made);
  GM_ASSIGN(const ReadTransaction snapshot, environment.begin_read());
  const auto from = std::make_shared<Trees>(snapshot.lmdb(), sources, /*writable=*/false);
  Status copied = copy_tree(from, sources.catalog, *made, targets, targets.catalog);
  for (size_t i = 0; copied && i < sources.ranges.size(); ++i) {
    copied = copy_tree(from, sources.ranges[i], *made, targets, targets.ranges[i]);
  }
  from->end();
  if (!copied) return copied;
  return made->checkpoint();
}

Status check_copy(const std::filesystem::path& copy, const std::filesystem::path& folder) {
  OpenOptions options;
  options.read_only = true;
  GM_ASSIGN(const std::unique_ptr<engine::Store> store, open(copy, options));
  GM_ASSIGN(const StructureReport report, check_structure(*store));
  if (report.problems.empty()) return {};
  return fail(ErrorCode::kDataCorruptionDetected,
              "store " + folder.string() + " is damaged, so it stays as it is: " +
                  report.problems.front() + "; run 'gridstore check'");
}

// Only by who has the store locked: another one's copy may be in the making there.
void remove_copy(const std::filesystem::path& copied) {
  std::error_code ignored;
  std::filesystem::remove_all(copied, ignored);
}

// Makes the copy and reads it whole. The number of the last transaction in it.
Result<uint64_t> make_checked_copy(Environment& environment, const std::filesystem::path& copied,
                                   const std::filesystem::path& folder) {
  remove_copy(copied);
  GM_ASSIGN(const PageReport pages, environment.survey_pages());
  const bool list_is_right = pages.problems.empty() && pages.leaked == 0;
  Status made = list_is_right ? copy(environment, copied) : copy_entries(environment, copied);
  if (made) made = check_copy(copied, folder);
  if (made) return environment.last_transaction();
  remove_copy(copied);
  return fail(std::move(made).error());
}

// `folder` is locked, marked closed, and whole. In an order in which each step leaves a store: with
// either file, no checkpoint is wanted while the mark says closed, and an older file's would be
// wrong for the copy. LMDB's table of readers counts the transactions of the file it was made for.
Status swap(StoreFolder& folder, const std::filesystem::path& copy) {
  GM_TRY(CheckpointFile::create(folder.path() / "checkpoint"));
  GM_TRY(sync_folder(folder.path()));
  GM_TRY(remove_file(folder.path() / "data.mdb-lock"));
  GM_TRY(rename_file(copy / "data.mdb", folder.data_path()));
  return sync_folder(folder.path());
}

}  // namespace

Status copy_store(engine::Store& store, const std::filesystem::path& folder) {
  auto* const local = dynamic_cast<LocalStore*>(&store);
  if (local == nullptr) {
    return fail(ErrorCode::kIllegalOperation, "only a store in a folder can be copied as a whole");
  }
  return copy(local->environment(), folder);
}

Result<Compaction> compact_store(const std::filesystem::path& folder) {
  const std::filesystem::path copied = folder / kCopyFolder;
  uint64_t transaction = 0;
  {
    // For writing, so that what a machine that went down has left is put in order first; without
    // what removes expired documents and dropped collections meanwhile.
    GM_ASSIGN(const std::unique_ptr<Environment> environment, Environment::open(folder, {}));
    GM_ASSIGN(transaction, make_checked_copy(*environment, copied, folder));
  }
  // Once more, now that LMDB has let go of it. Who has it instead removes the copy.
  GM_ASSIGN(StoreFolder locked, StoreFolder::open(folder, {}, TestOptions()));
  GM_ASSIGN(const MetaPair metas, read_meta_pair(locked.data()));
  Compaction compaction;
  GM_ASSIGN(compaction.bytes_before, locked.data().size());
  // With something to replay the mark must stay (D13, D15), and with what another owner has left;
  // we have left nothing of that kind.
  const bool is_ours =
      locked.to_replay().empty() && locked.pending().empty() && metas.current.txn == transaction;
  if (is_ours) GM_TRY(locked.mark(OwnerState::kClosed));
  const Result<File> data = File::open(copied / "data.mdb", O_RDONLY);
  if (!is_ours || !data) {
    remove_copy(copied);
    return fail(ErrorCode::kStoreLocked, "store " + folder.string() +
                                             " has been used meanwhile; compact it while nobody "
                                             "else does");
  }
  GM_ASSIGN(compaction.bytes_after, data->size());
  const Status swapped = swap(locked, copied);
  remove_copy(copied);
  if (!swapped) return fail(swapped.error());
  return compaction;
}

}  // namespace gridmount::local
