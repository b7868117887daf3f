#include "engine/local/integrity/store_copy.h"

#include <memory>
#include <string>
#include <utility>

#include "engine/local/files/data_swap.h"
#include "engine/local/files/store_folder.h"
#include "engine/local/integrity/store_replacement.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/local_store.h"
#include "engine/local/open_store.h"
#include "engine/local/storage/ascending_cursor.h"
#include "engine/local/storage/environment.h"
#include "engine/local/storage/tree_filler.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {
namespace {

// Fills the store that `made` has begun. The last step turns the folder into a store.
Status fill(StoreFolder& made, Environment& environment) {
  GM_TRY(environment.copy_pages(made.data()));
  GM_TRY(made.data().sync_data());
  // A closed store needs no checkpoint. Write the mark before the folder becomes a store.
  GM_TRY(made.mark(OwnerState::kClosed));
  return made.finish_creation();
}

Status copy(Environment& environment, const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder / "format", error)) {
    return fail(ErrorCode::kNamespaceExists,
                folder.string() + " is already a store; name a folder that does not exist");
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

// Copies one tree, entry by entry.
Status copy_tree(const std::shared_ptr<Trees>& from, MDB_dbi source, TreeFiller& filler,
                 size_t target) {
  AscendingCursor cursor(from, source);
  // LMDB has no empty keys, and none longer than 511 bytes.
  cursor.set_range(std::string(1, '\0'), std::string(512, '\xFF'));
  while (true) {
    GM_ASSIGN(const std::optional<TreeEntry> entry, cursor.next());
    if (!entry) return {};
    GM_TRY(filler.put(target, *entry));
  }
}

// Like copy(), but copies the entries of the trees. LMDB's page copy fails if the number of pages
// is not the sum of those in the trees and in the list of free pages. If this function is
// interrupted, the unfinished copy looks like a store.
Status copy_entries(Environment& environment, const std::filesystem::path& folder) {
  OpenOptions options;
  options.create = true;
  GM_ASSIGN(const std::unique_ptr<Environment> made, Environment::open(folder, options));
  const TreeHandles sources = handles_of(environment);
  TreeFiller filler(*made);
  GM_ASSIGN(const ReadTransaction snapshot, environment.begin_read());
  const auto from = std::make_shared<Trees>(snapshot.lmdb(), sources, /*writable=*/false);
  Status copied;
  for (size_t i = 0; copied && i <= from->tree_count(); ++i) {
    copied = copy_tree(from, from->tree_of_number(i), filler, i);
  }
  from->end();
  if (!copied) return copied;
  GM_TRY(filler.finish());
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
                  report.problems.front() + "; run 'gridstore check --repair'");
}

// Makes the copy and reads it whole. Returns the number of the last transaction of `environment`.
Result<uint64_t> make_checked_copy(Environment& environment, const std::filesystem::path& copied,
                                   const std::filesystem::path& folder) {
  remove_copy(folder);
  GM_ASSIGN(const PageReport pages, environment.survey_pages());
  const bool list_is_right = pages.problems.empty() && pages.leaked == 0;
  Status made = list_is_right ? copy(environment, copied) : copy_entries(environment, copied);
  if (made) made = check_copy(copied, folder);
  if (made) return environment.last_transaction();
  remove_copy(folder);
  return fail(std::move(made).error());
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
  // Only the copy of an interrupted salvage may have the newest commits.
  GM_TRY(finish_swap_with_warning(folder));
  {
    // Open the store for writing, so that a recovery after a power loss comes first. An Environment
    // alone has neither the drop cleanup nor the TTL monitor, which would write meanwhile.
    GM_ASSIGN(const std::unique_ptr<Environment> environment, Environment::open(folder, {}));
    GM_ASSIGN(transaction, make_checked_copy(*environment, copied, folder));
  }
  GM_ASSIGN(const Replacement replacement, install_copy(folder, transaction, OldData::kDropped));
  return replacement.sizes;
}

}  // namespace gridmount::local
