// repair_structure(): repairs one collection after the other, then the catalog's lists of
// keyspaces.

#include "engine/local/integrity/structure_repair.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/counted.h"
#include "engine/base/hex.h"
#include "engine/local/format/record.h"
#include "engine/local/integrity/catalog_survey.h"
#include "engine/local/integrity/collection_repair.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/local_store.h"
#include "engine/local/storage/ascending_cursor.h"

namespace gridmount::local {
namespace {

// Limits of one transaction that removes a keyspace without an owner.
constexpr uint64_t kEntriesAtOnce = 1'000;
constexpr uint64_t kBytesAtOnce = 16 * 1024 * 1024;
// Above every key of a tree, because keys have at most 511 bytes.
constexpr size_t kKeyBytesBound = 512;

// Returns the namespace under which the dump keeps objects that belong to no collection.
engine::Namespace store_namespace(const std::string& what) {
  return {"store", what};
}

// Returns whether the error is damage in the pages, and not a full disk or a failing device.
bool is_damage(const Error& error) {
  return error.code() == ErrorCode::kStoreDamaged ||
         error.code() == ErrorCode::kDataCorruptionDetected ||
         error.code() == ErrorCode::kInternalError;
}

ReadView& read_view_of(engine::Snapshot& snapshot) {
  return *dynamic_cast<ReadViewHolder&>(snapshot).read_view();
}

class StructureRepair {
 public:
  StructureRepair(engine::Store& store, const RepairOptions& options)
      : store_(store), options_(options) {}

  Result<RepairReport> run() {
    if (Status repaired = repair(); !repaired) {
      if (!is_damage(repaired.error())) return fail(std::move(repaired).error());
      unrepairable(repaired.error().message());
    }
    return std::move(report_);
  }

 private:
  Status repair() {
    at("the catalog");
    GM_ASSIGN(const CatalogSurvey before, survey());
    for (const std::string& text : before.unreadable) unrepairable(text);
    for (const auto& [prefix, text] : before.shared) unrepairable(text);
    GM_TRY(remove_orphan_keys(before));
    GM_TRY(repair_collections(before));
    GM_TRY(repair_trees(before));
    at("the catalog");
    return repair_lists();
  }

  Result<CatalogSurvey> survey() {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
    ReadView& read_view = read_view_of(*snapshot);
    return survey_catalog(read_view.shared_trees(), read_view.catalog());
  }

  Status remove_orphan_keys(const CatalogSurvey& survey) {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    Trees& trees = read_view_of(*transaction).trees();
    std::vector<std::string> lines;
    for (const CatalogSurvey::OrphanKey& orphan : survey.orphan) {
      const std::string what = "the catalog's key " + to_hex(orphan.key);
      if (!orphan.removable) {
        unrepairable(what + ": " + orphan.what);
        continue;
      }
      GM_ASSIGN(const std::optional<std::string_view> value,
                trees.get(trees.catalog(), orphan.key));
      // The drop cleanup may have removed the key meanwhile.
      if (!value) continue;
      GM_TRY(options_.removed.keep_bytes(store_namespace("catalog"), what, orphan.what, *value));
      GM_TRY(trees.remove(trees.catalog(), orphan.key));
      lines.push_back("removed " + what + ": " + orphan.what);
    }
    return commit(*transaction, lines);
  }

  Status repair_collections(const CatalogSurvey& survey) {
    std::vector<engine::Namespace> names;
    {
      GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
      Catalog& catalog = read_view_of(*snapshot).catalog();
      GM_ASSIGN(const std::vector<std::string> databases, catalog.databases());
      for (const std::string& database : databases) {
        GM_ASSIGN(const std::vector<engine::Namespace> found, catalog.collections(database));
        for (const engine::Namespace& ns : found) {
          const Result<std::shared_ptr<const CollectionMetadata>> metadata = catalog.find(ns);
          if (metadata && *metadata && survey.is_alone(**metadata)) names.push_back(ns);
        }
      }
    }
    for (const engine::Namespace& ns : names) {
      at(ns.full());
      CollectionRepair repair(store_, ns, options_);
      Status repaired = repair.run();
      report_.repaired += repair.repaired();
      if (repair.lost_documents()) report_.lost_documents.push_back(ns);
      for (const std::string& text : repair.unrepairable()) unrepairable(text);
      if (repaired) continue;
      if (!is_damage(repaired.error())) return repaired;
      unrepairable(ns.full() + ": " + repaired.error().message());
    }
    return {};
  }

  // Removes the keyspaces that certainly belong to nothing.
  Status repair_trees(const CatalogSurvey& survey) {
    for (uint32_t tree = 0; tree < survey.keyspaces.size(); ++tree) {
      at("the tree " + std::to_string(tree));
      if (Status repaired = repair_tree(survey, tree); !repaired) {
        if (!is_damage(repaired.error())) return repaired;
        trees_are_read_ = false;
        unrepairable("tree " + std::to_string(tree) + ": " + repaired.error().message());
      }
    }
    return {};
  }

  // Jumps from keyspace to keyspace.
  Status repair_tree(const CatalogSurvey& survey, uint32_t tree) {
    std::vector<std::string> nobodys;  // prefixes of keys
    {
      GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
      ReadView& read_view = read_view_of(*snapshot);
      AscendingCursor cursor(read_view.shared_trees(), read_view.trees().tree({tree, 0}));
      std::string from(1, '\0');
      while (true) {
        cursor.set_range(from, std::string(kKeyBytesBound, '\xFF'));
        GM_ASSIGN(const std::optional<TreeEntry> entry, cursor.next());
        if (!entry) break;
        const std::string beginning(entry->key.substr(0, 4));
        const bool is_keyspace = beginning.size() == 4;
        const uint32_t prefix = is_keyspace ? big_endian_32(beginning) : 0;
        if (is_keyspace && survey.owners.contains(prefix)) {
          highest_prefix_ = std::max(highest_prefix_, prefix);
        } else {
          nobodys.push_back(beginning);
          if (!survey.knows_all_keyspaces()) highest_prefix_ = std::max(highest_prefix_, prefix);
        }
        if (!is_keyspace) {
          from = beginning + '\0';
        } else if (prefix == std::numeric_limits<uint32_t>::max()) {
          break;
        } else {
          from = keyspace_end({tree, prefix});
        }
      }
    }
    for (const std::string& beginning : nobodys)
      GM_TRY(remove_stray_keyspace(survey, tree, beginning));
    return {};
  }

  Status remove_stray_keyspace(const CatalogSurvey& survey, uint32_t tree,
                               const std::string& beginning) {
    const std::string what =
        beginning.size() < 4 ? "the key " + to_hex(beginning) + " of tree " + std::to_string(tree)
                             : "the keyspace " + std::to_string(big_endian_32(beginning)) +
                                   " of tree " + std::to_string(tree);
    if (!survey.knows_all_keyspaces()) {
      unrepairable(what + " belongs to no collection or index whose entry can be read");
      return {};
    }
    uint64_t removed = 0;
    uint64_t documents = 0;
    for (bool done = false; !done;) {
      GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
      GM_ASSIGN(done, remove_some(read_view_of(*transaction).trees(), tree, beginning, removed,
                                  documents));
      std::vector<std::string> lines;
      if (done) {
        lines.push_back("removed " + what +
                        ", which belonged to no collection or index: " + counted(removed, "key") +
                        ", " + std::to_string(documents) + " of documents");
      }
      GM_TRY(commit(*transaction, lines));
    }
    return {};
  }

  Result<bool> remove_some(Trees& trees, uint32_t tree, const std::string& beginning,
                           uint64_t& removed, uint64_t& documents) {
    const MDB_dbi handle = trees.tree({tree, 0});
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < kEntriesAtOnce && bytes < kBytesAtOnce; ++i) {
      GM_ASSIGN(const std::optional<TreeEntry> entry, trees.at_or_after(handle, beginning));
      const bool is_one = entry && (beginning.size() < 4 ? entry->key == beginning
                                                         : entry->key.starts_with(beginning));
      if (!is_one) return true;
      bytes += entry->value.size();
      ++removed;
      if (keeps_document(tree, *entry)) {
        ++documents;
        GM_TRY(options_.removed.keep_document(
            store_namespace("range-" + to_hex(beginning)),
            bson::View(reinterpret_cast<const uint8_t*>(entry->value.data()) + kRecordHeaderBytes,
                       static_cast<uint32_t>(entry->value.size() - kRecordHeaderBytes))));
      } else {
        GM_TRY(options_.removed.keep_bytes(store_namespace("range-" + to_hex(beginning)),
                                           "the key " + to_hex(entry->key),
                                           "it belonged to no collection or index", entry->value));
      }
      GM_TRY(trees.remove(handle, std::string(entry->key)));
    }
    return false;
  }

  static bool keeps_document(uint32_t tree, const TreeEntry& entry) {
    const std::optional<RecordId> id = record_id_of(entry.key);
    if (!id) return false;
    const RecordKey key({tree, big_endian_32(entry.key)}, *id);
    if (!record_defect(entry.value, Verify::kChecksum, key).empty()) return false;
    const std::string_view document = entry.value.substr(kRecordHeaderBytes);
    return bson::validate({reinterpret_cast<const uint8_t*>(document.data()), document.size()})
        .has_value();
  }

  // Repairs the list of expiring collections and the table of keyspaces.
  Status repair_lists() {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    ReadView& read_view = read_view_of(*transaction);
    Catalog& catalog = read_view.catalog();
    GM_ASSIGN(const CatalogSurvey now, survey_catalog(read_view.shared_trees(), catalog));
    std::vector<std::string> lines;
    for (const engine::Namespace& ns : now.expiring_unlisted) {
      GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata, catalog.find(ns));
      GM_TRY(catalog.put(*metadata));
      lines.push_back(ns.full() + " was added to the list of collections with a TTL index");
    }
    GM_TRY(repair_allocation(read_view.trees(), catalog, now, lines));
    return commit(*transaction, lines);
  }

  Status repair_allocation(Trees& trees, Catalog& catalog, const CatalogSurvey& now,
                           std::vector<std::string>& lines) {
    const Result<uint32_t> recorded = catalog.next_prefix();
    if (!recorded && !is_damage(recorded.error())) return fail(recorded.error());
    uint32_t highest = highest_prefix_;
    if (!now.owners.empty()) highest = std::max(highest, now.owners.rbegin()->first);
    if (highest == std::numeric_limits<uint32_t>::max()) {
      unrepairable("no prefix is left for new keyspaces");
      return {};
    }
    std::vector<uint32_t> keyspaces(trees.tree_count());
    for (uint32_t tree = 0; recorded && tree < keyspaces.size(); ++tree) {
      GM_ASSIGN(keyspaces[tree], catalog.keyspaces_in_tree(tree));
    }
    const bool counts_known = now.knows_all_keyspaces() && trees_are_read_;
    const bool counts_wrong = !recorded || (counts_known && keyspaces != now.keyspaces);
    const uint32_t next = recorded ? std::max(*recorded, highest + 1) : highest + 1;
    if (recorded && *recorded == next && !counts_wrong) return {};
    lines.push_back("the catalog's table of keyspaces was rebuilt");
    return catalog.replace_allocation(next, counts_wrong ? now.keyspaces : keyspaces);
  }

  // `lines` describe what the transaction has done.
  Status commit(engine::Transaction& transaction, const std::vector<std::string>& lines) {
    GM_TRY(options_.removed.sync());
    GM_TRY(transaction.commit());
    for (const std::string& line : lines) {
      ++report_.repaired;
      options_.repaired(line);
    }
    return {};
  }

  void at(const std::string& place) {
    if (options_.at) options_.at(place);
  }

  void unrepairable(const std::string& text) {
    std::vector<std::string>& texts = report_.unrepairable;
    if (texts.size() < kMaxProblems && std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(text);
    }
  }

  engine::Store& store_;
  const RepairOptions& options_;
  RepairReport report_;
  uint32_t highest_prefix_ = 0;  // the highest prefix found in the trees
  bool trees_are_read_ = true;
};

}  // namespace

Result<RepairReport> repair_structure(engine::Store& store, const RepairOptions& options) {
  if (dynamic_cast<LocalStore*>(&store) == nullptr) {
    return fail(ErrorCode::kIllegalOperation, "only an embedded store's structure can be repaired");
  }
  if (store.read_only()) {
    return fail(ErrorCode::kStoreReadOnly, "a store that is open read-only cannot be repaired");
  }
  return StructureRepair(store, options).run();
}

}  // namespace gridmount::local
