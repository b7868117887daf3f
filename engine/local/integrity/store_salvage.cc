// salvage_store() walks the pages of the trees as far as possible, then the leaves to which no page
// leads any more. Entries with a valid checksum go into a new store, into the keyspaces that the
// catalog has for their prefixes. The catalog is read first. Afterwards a repair of the new store
// rebuilds lost index entries from the documents.

#include "engine/local/integrity/store_salvage.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/counted.h"
#include "engine/local/catalog/catalog.h"
#include "engine/local/files/fault_scope.h"
#include "engine/local/files/store_folder.h"
#include "engine/local/format/catalog_keys.h"
#include "engine/local/format/index_value.h"
#include "engine/local/format/record.h"
#include "engine/local/format/record_patches.h"
#include "engine/local/format/redo_changes.h"
#include "engine/local/integrity/catalog_survey.h"
#include "engine/local/integrity/store_copy.h"
#include "engine/local/integrity/store_replacement.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/integrity/structure_repair.h"
#include "engine/local/integrity/unopened_store.h"
#include "engine/local/open_store.h"
#include "engine/local/storage/page_accounting.h"
#include "engine/local/storage/tree_filler.h"
#include "engine/system/file.h"

namespace gridmount::local {
namespace {

constexpr std::string_view kCatalogName = "catalog";
constexpr size_t kCatalogNumber = 0;

size_t number_of(const Keyspace& keyspace) {
  return keyspace.tree + 1;
}

uint64_t entries_of(MDB_txn* txn, MDB_dbi tree) {
  MDB_stat stat{};
  const int code = guarded([&] { return mdb_stat(txn, tree, &stat); });
  return code == MDB_SUCCESS ? stat.ms_entries : 0;
}

// Returns the error for damage that cannot be repaired. The store then stays as it is.
tl::unexpected<Error> beyond(std::string what) {
  return fail(ErrorCode::kDataCorruptionDetected,
              std::move(what) + ", so the store cannot be rebuilt; restore it from a backup");
}

// The source of the salvage.
struct DamagedStore {
  std::function<Result<PageReport>(PageVisitor&)> survey_pages;
  std::optional<uint64_t> catalog_entries;  // the expected number of entries, if it is known
  // The changes to make after the pages are read, in the form that for_each_change() reads.
  std::vector<std::string> changes;
};

class StoreSalvage : private PageVisitor {
 public:
  StoreSalvage(const DamagedStore& damaged, Environment& made, const RepairOptions& options,
               std::vector<std::string>& lines)
      : damaged_(damaged), made_(made), filler_(made), options_(options), lines_(lines) {}

  Status run() {
    at("the catalog");
    GM_ASSIGN(const PageReport report, damaged_.survey_pages(*this));
    if (report.hides_pages) {
      return beyond("the list of free pages and other pages are damaged");
    }
    GM_TRY(filler_.finish());
    GM_TRY(read_owners());
    knows_owners_ = true;
    at("the trees");
    GM_TRY(damaged_.survey_pages(*this));
    GM_TRY(filler_.finish());
    if (may_lack_collections_ && of_nobody_ > 0) {
      return beyond(
          "the catalog has lost entries, and " +
          counted(of_nobody_, "record or index entry belongs", "records and index entries belong") +
          " to no collection that it still names");
    }
    GM_TRY(make_changes());
    lines_.push_back("data.mdb was rebuilt from the " +
                     counted(taken_, "record or index entry", "records and index entries") +
                     " that could be read");
    return made_.checkpoint();
  }

 private:
  // The owner of a prefix. `collection` is null for a released keyspace.
  struct KeyspaceOwner {
    Keyspace keyspace;
    std::shared_ptr<const CollectionMetadata> collection;
    const IndexMetadata* index = nullptr;  // null: the collection's records
  };

  Status found(const Found& found) override {
    if (found.entry.key.empty()) return {};
    return knows_owners_ ? take_of_keyspace(found) : take_of_catalog(found);
  }

  Status damaged(const Damaged& damaged) override {
    if (!knows_owners_) return {};
    const std::string what =
        "page " + std::to_string(damaged.page) + " of the tree '" + std::string(damaged.tree) + "'";
    if (lines_.size() < kMaxProblems) {
      lines_.push_back("data.mdb: " + what + " was not copied: " + damaged.what);
    }
    return options_.removed.keep_bytes({"store", "pages"}, what, damaged.what, damaged.bytes);
  }

  // An entry of another tree, or of a page that is damaged or that no tree leads to, is used only
  // if its checksum is right.
  Status take_of_catalog(const Found& found) {
    const TreeEntry& entry = found.entry;
    const bool in_place = found.certain && found.tree == kCatalogName;
    const bool vouched = entry.key[0] == kCollectionKey
                             ? entry.value.size() > kEntryChecksumBytes
                             : has_entry_checksum(kCatalogTree, entry.key, entry.value);
    if (!in_place && !vouched) return {};
    if (!is_sound_catalog_entry(filler_.handles().keyspaces.size(), entry)) return {};
    return put(kCatalogNumber, entry, in_place);
  }

  // A page that no tree leads to may be an old one, with older states of entries that are in place.
  // So an entry that is not in place does not replace another one.
  Status put(size_t tree, const TreeEntry& entry, bool in_place) {
    return in_place ? filler_.put(tree, entry) : filler_.put_new(tree, entry);
  }

  Status read_owners() {
    GM_ASSIGN(const ReadTransaction transaction, made_.begin_read());
    const auto trees =
        std::make_shared<Trees>(transaction.lmdb(), filler_.handles(), /*writable=*/false);
    may_lack_collections_ =
        !damaged_.catalog_entries ||
        *damaged_.catalog_entries > entries_of(transaction.lmdb(), made_.catalog());
    CatalogCache cache;
    Catalog catalog(trees, cache);
    const Status read = read_owners(trees, catalog);
    trees->end();
    return read;
  }

  Status read_owners(const std::shared_ptr<Trees>& trees, Catalog& catalog) {
    GM_ASSIGN(const CatalogSurvey survey, survey_catalog(trees, catalog));
    if (!survey.unreadable.empty()) return beyond(survey.unreadable.front());
    if (!survey.shared.empty()) return beyond(survey.shared.begin()->second);
    if (!survey.knows_all_keyspaces()) return beyond("the catalog has entries of an unknown kind");
    GM_ASSIGN(const std::vector<Keyspace> released, catalog.released_keyspaces());
    for (const Keyspace& keyspace : released) owners_[keyspace.prefix] = {keyspace, nullptr};
    GM_ASSIGN(const std::vector<std::string> databases, catalog.databases());
    for (const std::string& database : databases) {
      GM_ASSIGN(const std::vector<engine::Namespace> names, catalog.collections(database));
      for (const engine::Namespace& ns : names) {
        GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata, catalog.find(ns));
        owners_[metadata->records.prefix] = {metadata->records, metadata};
        for (const IndexMetadata& index : metadata->indexes) {
          owners_[index.keyspace.prefix] = {index.keyspace, metadata, &index};
        }
      }
    }
    return {};
  }

  Status take_of_keyspace(const Found& found) {
    const TreeEntry& entry = found.entry;
    const auto owner =
        entry.key.size() < 4 ? owners_.end() : owners_.find(big_endian_32(entry.key));
    if (owner == owners_.end()) return record_of_nobody(found);
    if (!owner->second.collection) return {};
    const bool in_place =
        found.certain && found.tree == tree_name(static_cast<int>(owner->second.keyspace.tree));
    return owner->second.index == nullptr ? take_record(owner->second, found, in_place)
                                          : take_index_entry(owner->second, entry, in_place);
  }

  // A certain entry without an owner is copied too. The repair of the new store removes the entry
  // and keeps it in the dump.
  Status record_of_nobody(const Found& found) {
    if (found.tree == kCatalogName) return {};
    if (!found.certain) {
      if (may_lack_collections_ && of_nobody_ == 0 && is_record(found.entry)) ++of_nobody_;
      return {};
    }
    ++of_nobody_;
    for (size_t tree = 0; tree < filler_.handles().keyspaces.size(); ++tree) {
      if (found.tree == tree_name(static_cast<int>(tree)))
        return filler_.put(tree + 1, found.entry);
    }
    return {};
  }

  // Returns whether the entry is a sound record of any tree.
  bool is_record(const TreeEntry& entry) const {
    const std::optional<RecordId> id = record_id_of(entry.key);
    for (uint32_t tree = 0; id && tree < filler_.handles().keyspaces.size(); ++tree) {
      const RecordKey key({tree, big_endian_32(entry.key)}, *id);
      if (record_defect(entry.value, Verify::kChecksum, key).empty()) return true;
    }
    return false;
  }

  Status make_changes() {
    if (damaged_.changes.empty()) return {};
    for (const std::string& changes : damaged_.changes) {
      GM_TRY(for_each_change(
          changes, filler_.handles().keyspaces.size(), [&](const RedoChange& change) {
            return change.is_put ? filler_.put(change.tree, {change.key, change.value})
                                 : filler_.remove(change.tree, change.key);
          }));
    }
    lines_.push_back(counted(damaged_.changes.size(), "transaction was", "transactions were") +
                     " added to data.mdb from the log");
    return filler_.finish();
  }

  Status take_record(const KeyspaceOwner& owner, const Found& found, bool in_place) {
    const TreeEntry& entry = found.entry;
    if (is_of_patches(entry.key) &&
        has_entry_checksum(owner.keyspace.tree, entry.key, entry.value)) {
      ++taken_;
      return put(number_of(owner.keyspace), entry, in_place);
    }
    const std::optional<RecordId> id = record_id_of(entry.key);
    const std::string defect =
        id ? record_defect(entry.value, Verify::kChecksum, RecordKey(owner.keyspace, *id))
           : "its key has " + counted(entry.key.size(), "byte") + " instead of " +
                 std::to_string(kRecordKeyBytes);
    if (defect.empty()) {
      ++taken_;
      return put(number_of(owner.keyspace), entry, in_place);
    }
    // If damaged() was called for the page of the entry, the dump has the whole page, but not a
    // value in pages of its own. It is called for damaged pages that a tree leads to.
    const bool is_dumped = !found.certain && !found.tree.empty() && !found.has_pages_of_its_own;
    if (is_dumped) return {};
    const engine::Namespace& ns = owner.collection->ns;
    const std::string what = id ? record_name(entry.value, *id) : "a record";
    if (lines_.size() < kMaxProblems) {
      lines_.push_back(ns.full() + ": removed " + what + ": " + defect);
    }
    return options_.removed.keep_bytes(ns, what, defect, entry.value);
  }

  Status take_index_entry(const KeyspaceOwner& owner, const TreeEntry& entry, bool in_place) {
    if (!(in_place || owner.index->checksums) || !is_sound(*owner.index, entry)) return {};
    ++taken_;
    return put(number_of(owner.keyspace), entry, in_place);
  }

  void at(const std::string& place) {
    if (options_.at) options_.at(place);
  }

  const DamagedStore& damaged_;
  Environment& made_;
  TreeFiller filler_;
  const RepairOptions& options_;
  std::vector<std::string>& lines_;
  std::map<uint32_t, KeyspaceOwner> owners_;  // by prefix
  bool knows_owners_ = false;
  bool may_lack_collections_ = false;
  uint64_t of_nobody_ = 0;
  uint64_t taken_ = 0;
};

// Gives the new store the format of the damaged one, because its data will be in the folder of that
// one. A closed store does not need the files that an older format lacks. If the format has these
// files, they are created again.
Status take_format(const std::filesystem::path& folder, const std::filesystem::path& copied) {
  std::error_code error;
  std::filesystem::copy_file(folder / "format", copied / "format",
                             std::filesystem::copy_options::overwrite_existing, error);
  GM_TRY(system::remove_file(copied / "redo"));
  GM_TRY(system::remove_file(copied / "pending"));
  if (!error) return {};
  return fail(ErrorCode::kIoError, "cannot write " + (copied / "format").string() + ": " +
                                       error.message() + "; the store is left as it was");
}

Status repair_copy(const std::filesystem::path& copied, const RepairOptions& options,
                   RepairReport& report, std::vector<std::string>& lines) {
  OpenOptions open_options;
  // A repair must not remove expired documents.
  open_options.expiry_interval = std::chrono::hours(24 * 365);
  GM_ASSIGN(const std::unique_ptr<engine::Store> store, open(copied, open_options));
  const RepairOptions repairing{
      options.removed, [&](const std::string& line) { lines.push_back(line); }, options.at};
  GM_ASSIGN(report, repair_structure(*store, repairing));
  if (!report.unrepairable.empty()) return beyond(report.unrepairable.front());
  GM_ASSIGN(const StructureReport structure, check_structure(*store));
  if (!structure.problems.empty()) return beyond(structure.problems.front());
  return store->make_durable();
}

Status make_copy(const DamagedStore& damaged, const std::filesystem::path& folder,
                 const RepairOptions& options, RepairReport& report,
                 std::vector<std::string>& lines) {
  const std::filesystem::path copied = folder / kCopyFolder;
  {
    OpenOptions create;
    create.create = true;
    GM_ASSIGN(const std::unique_ptr<Environment> made, Environment::open(copied, create));
    GM_TRY(StoreSalvage(damaged, *made, options, lines).run());
  }
  GM_TRY(take_format(folder, copied));
  GM_TRY(repair_copy(copied, options, report, lines));
  return options.removed.sync();
}

// Like make_copy(), but removes the rest of a failed copy. The caller has the store locked.
Status make_copy_or_none(const DamagedStore& damaged, const std::filesystem::path& folder,
                         const RepairOptions& options, RepairReport& report,
                         std::vector<std::string>& lines) {
  remove_copy(folder);
  Status made = make_copy(damaged, folder, options, report, lines);
  if (!made) remove_copy(folder);
  return made;
}

// This function and salvage_unopened() return where the old data is kept.
Result<std::filesystem::path> salvage_opened(std::unique_ptr<Environment> opened,
                                             const std::filesystem::path& folder,
                                             const RepairOptions& options, RepairReport& report,
                                             std::vector<std::string>& lines) {
  DamagedStore damaged;
  damaged.survey_pages = [&](PageVisitor& visitor) { return opened->survey_pages(&visitor); };
  {
    GM_ASSIGN(const ReadTransaction transaction, opened->begin_read());
    damaged.catalog_entries = entries_of(transaction.lmdb(), opened->catalog());
  }
  GM_TRY(make_copy_or_none(damaged, folder, options, report, lines));
  const uint64_t transaction = opened->last_transaction();
  opened.reset();
  GM_ASSIGN(Replacement replacement, install_copy(folder, transaction, OldData::kKept));
  return std::move(replacement.kept);
}

Result<std::filesystem::path> salvage_unopened(const std::filesystem::path& folder,
                                               const RepairOptions& options, RepairReport& report,
                                               std::vector<std::string>& lines) {
  GM_ASSIGN(const UnopenedStore unopened, UnopenedStore::open(folder));
  DamagedStore damaged;
  damaged.survey_pages = [&](PageVisitor& visitor) { return unopened.survey_pages(&visitor); };
  damaged.changes = unopened.changes();
  if (!unopened.lost().empty()) lines.push_back(unopened.lost());
  GM_TRY(make_copy_or_none(damaged, folder, options, report, lines));
  // Begin the swap before the mark is written. Otherwise, after an interruption, the next opening
  // would accept the old data, which lacks the changes that only the copy has.
  GM_TRY(begin_swap(folder));
  GM_TRY(unopened.mark_closed());
  return swap_copy(folder, OldData::kKept);
}

}  // namespace

Result<RepairReport> salvage_store(const std::filesystem::path& folder,
                                   const RepairOptions& options) {
  std::vector<std::string> lines;
  GM_ASSIGN(const std::optional<std::filesystem::path> finished, finish_swap(folder));
  if (finished) {
    lines.push_back("data.mdb was replaced, which an earlier repair had begun; " +
                    (finished->empty()
                         ? "the old file was not kept, because it cannot have a hard link"
                         : "the old file is still there as " + finished->string()));
  }
  Result<std::unique_ptr<Environment>> opened = Environment::open(folder, {});
  if (!opened && opened.error().code() != ErrorCode::kStoreDamaged &&
      opened.error().code() != ErrorCode::kDataCorruptionDetected) {
    return fail(std::move(opened).error());
  }
  RepairReport report;
  GM_ASSIGN(const std::filesystem::path kept,
            opened ? salvage_opened(std::move(opened).value(), folder, options, report, lines)
                   : salvage_unopened(folder, options, report, lines));
  if (!kept.empty()) {
    lines.push_back("the damaged file is still there as " + kept.string() +
                    "; remove it when nothing is missing");
  } else {
    lines.emplace_back("the damaged file was not kept, because it cannot have a hard link");
  }
  for (const std::string& line : lines) options.repaired(line);
  report.repaired = lines.size();
  return report;
}

}  // namespace gridmount::local
