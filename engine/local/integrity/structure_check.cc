// check_structure(): checks everything below the level of documents, in bounded memory.

#include "engine/local/integrity/structure_check.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/counted.h"
#include "engine/base/hex.h"
#include "engine/bson/builder.h"
#include "engine/bson/count.h"
#include "engine/bson/document.h"
#include "engine/local/catalog/patched_records.h"
#include "engine/local/catalog/records.h"
#include "engine/local/database.h"
#include "engine/local/format/index_key_generation.h"
#include "engine/local/format/index_value.h"
#include "engine/local/indexes/entry_reading.h"
#include "engine/local/indexes/index_writer.h"
#include "engine/local/integrity/catalog_survey.h"
#include "engine/local/local_store.h"
#include "engine/local/storage/ascending_cursor.h"
#include "engine/local/storage/overflow_page.h"
#include "engine/query/interruption.h"

namespace gridmount::local {
namespace {

constexpr const char* kAboutFreePages =
    "; write nothing to the store before 'gridstore compact' has rebuilt the list of free pages";

class StructureCheck {
 public:
  // `renew` gives `read_view` a new read view: after a damaged page LMDB returns nothing more in
  // the old one. Without `renew` a damaged page ends the check.
  explicit StructureCheck(ReadView& read_view, std::function<void()> record_read = {},
                          std::function<Status()> renew = {})
      : read_view_(read_view),
        trees_(read_view.trees()),
        catalog_(read_view.catalog()),
        record_read_(std::move(record_read)),
        renew_(std::move(renew)) {}

  Result<StructureReport> run() {
    GM_ASSIGN(const std::vector<std::string> databases, catalog_.databases());
    for (const std::string& database : databases) {
      GM_ASSIGN(const std::vector<engine::Namespace> names, catalog_.collections(database));
      for (const engine::Namespace& name : names) {
        const Result<std::shared_ptr<const CollectionMetadata>> metadata = catalog_.find(name);
        if (!metadata) {
          problem(metadata.error().message());
          GM_TRY(renew_view());
        } else if (*metadata) {  // a new snapshot may lack a collection of the list
          GM_TRY(go_on_behind_damage(name.full(), check_collection(**metadata)));
        }
      }
    }
    GM_TRY(check_keyspaces());
    GM_TRY(go_on_behind_damage("the catalog", check_catalog()));
    record_left_out();
    return std::move(report_);
  }

  // Reports problems of the file below the trees. Must be called before run().
  void record_pages(const PageReport& pages) {
    for (const std::string& text : pages.problems) problem(text + kAboutFreePages);
    if (pages.damaged > 0) {
      problem(
          "data.mdb: " + counted(pages.damaged, "page of its trees is", "pages of its trees are") +
          " damaged");
    }
    if (pages.leaked == 0) return;
    const std::string first = std::to_string(pages.first_leaked);
    problem("data.mdb: " +
            (pages.leaked == 1
                 ? "page " + first + " is neither in use nor free; 'gridstore compact' frees it"
                 : std::to_string(pages.leaked) +
                       " pages are neither in use nor free, the first of them page " + first +
                       "; 'gridstore compact' frees them"));
  }

  // Returns the reply of `validate` for one collection. Fails with the error of an interruption
  // (engine/query/interruption.h).
  Result<bson::Document> validate(const CollectionMetadata& metadata) {
    GM_TRY(check_collection(metadata));
    record_left_out();
    bson::Builder out;
    out.append("ns", metadata.ns.full());
    bson::append_count(out, "nInvalidDocuments", invalid_documents_);
    bson::append_count(out, "nNonCompliantDocuments", noncompliant_documents_);
    bson::append_count(out, "nrecords", static_cast<int64_t>(report_.records));
    out.append("nIndexes", static_cast<int32_t>(metadata.indexes.size()));
    out.open_document("keysPerIndex");
    for (size_t i = 0; i < metadata.indexes.size(); ++i) {
      bson::append_count(out, metadata.indexes[i].definition.name,
                         static_cast<int64_t>(keys_per_index_[i]));
    }
    out.close().open_document("indexDetails");
    for (size_t i = 0; i < metadata.indexes.size(); ++i) {
      const query::IndexDefinition& definition = metadata.indexes[i].definition;
      out.open_document(definition.name).append("valid", !unsound_indexes_[i]);
      out.append("spec", definition.specification()).close();
    }
    out.close();
    out.append("valid", report_.problems.empty()).append("repaired", false).open_array("warnings");
    if (noncompliant_documents_ > 0) {
      out.push(bson::Value("Detected one or more documents not compliant with the collection's "
                           "schema")
                   .view());
    }
    out.close().open_array("errors");
    for (const std::string& text : report_.problems) out.push(bson::Value(text).view());
    out.close().open_array("extraIndexEntries");
    for (const bson::Document& one : extra_entries_) out.push(one.view());
    out.close().open_array("missingIndexEntries");
    for (const bson::Document& one : missing_entries_) out.push(one.view());
    out.close().open_array("corruptRecords");
    for (const RecordId id : corrupt_records_) {
      out.push(bson::Value(static_cast<int64_t>(id)).view());
    }
    out.close();
    return std::move(out).finish();
  }

 private:
  void record_left_out() {
    if (left_out_ == 0) return;
    report_.problems.push_back("and " + counted(left_out_, "further problem"));
  }

  void problem(std::string text) {
    if (report_.problems.size() < kMaxProblems) {
      report_.problems.push_back(std::move(text));
    } else {
      ++left_out_;
    }
  }

  void index_problem(size_t i, std::string text) {
    unsound_indexes_[i] = true;
    problem(std::move(text));
  }

  void record_invalid(RecordId id) {
    ++invalid_documents_;
    if (corrupt_records_.size() < kMaxProblems) corrupt_records_.push_back(id);
  }

  // Adds an entry in the form of `validate`, if there are fewer than kMaxProblems entries.
  void record_entry(std::vector<bson::Document>& entries, const IndexMetadata& index, RecordId id) {
    if (entries.size() >= kMaxProblems) return;
    bson::Builder entry;
    entry.append("indexName", index.definition.name);
    entry.append("recordId", static_cast<int64_t>(id));
    entries.push_back(std::move(entry).finish());
  }

  Status check_collection(const CollectionMetadata& metadata) {
    ++report_.collections;
    claim(metadata.records, metadata.ns.full());
    for (const IndexMetadata& index : metadata.indexes) {
      claim(index.keyspace, metadata.ns.full() + " index '" + index.definition.name + "'");
    }
    std::vector<uint64_t> expected(metadata.indexes.size());
    keys_per_index_.clear();
    unsound_indexes_.assign(metadata.indexes.size(), false);
    GM_TRY(check_records(metadata, expected));
    for (size_t i = 0; i < metadata.indexes.size(); ++i) {
      GM_TRY(check_index(metadata, i, expected[i]));
    }
    return {};
  }

  void claim(const Keyspace& keyspace, const std::string& owner) {
    const auto [at, added] = owners_.try_emplace(keyspace.prefix, owner);
    if (!added)
      problem(owner + " and " + at->second + " share the keyspace " +
              std::to_string(keyspace.prefix));
    ++keyspaces_[keyspace.tree];
  }

  // Checks each record and its index entries. Counts the entries found for each index.
  Status check_records(const CollectionMetadata& metadata, std::vector<uint64_t>& expected) {
    Result<Counts> counts = catalog_.counts(metadata);
    if (!counts) problem(counts.error().message());
    int64_t documents = 0;
    int64_t bytes = 0;
    RecordId last = 0;
    AscendingCursor cursor(read_view_.shared_trees(), trees_.tree(metadata.records));
    cursor.set_range(keyspace_prefix(metadata.records), keyspace_end(metadata.records));
    OverflowPages pages =
        OverflowPages::of(read_view_.shared_trees(), trees_.tree(metadata.records));
    while (true) {
      GM_TRY(query::check_interruption());
      GM_ASSIGN(const std::optional<TreeEntry> record, cursor.next());
      if (!record) break;
      if (is_of_patches(record->key)) {
        GM_TRY(check_patch(metadata, *record, pages));
        continue;
      }
      ++report_.records;
      if (record_read_) record_read_();
      const std::optional<RecordId> id = record_id_of(record->key);
      if (!id) {
        problem(metadata.ns.full() + ": a record's key has " + counted(record->key.size(), "byte") +
                " instead of " + std::to_string(kRecordKeyBytes));
        continue;
      }
      last = *id;
      ++documents;
      if (const std::string defect = pages.defect(*record); !defect.empty()) {
        problem(metadata.ns.full() + ": " + record_name(record->value, *id) + ": " + defect);
      }
      bson::Document patched;
      const Result<bson::View> document = whole_document_of(
          trees_, metadata.ns, metadata.records, *id, record->value, Verify::kChecksum, patched);
      bytes += document ? int64_t{document->size()}
                        : static_cast<int64_t>(record->value.size()) -
                              static_cast<int64_t>(kRecordHeaderBytes);
      if (!document) {
        problem(document.error().message());
        record_invalid(*id);
        continue;
      }
      const Result<bson::View> valid = bson::validate(document->bytes());
      if (!valid) {
        problem(metadata.ns.full() + ": record " + std::to_string(*id) +
                " is not valid BSON: " + valid.error().message());
        record_invalid(*id);
        continue;
      }
      if (metadata.validator && !metadata.validator->matches(*valid)) ++noncompliant_documents_;
      GM_TRY(check_entries_of(metadata, *id, *valid, expected));
    }
    if (!counts) return {};
    if (counts->documents != documents || counts->document_bytes != bytes) {
      problem(metadata.ns.full() + ": the catalog counts " +
              counted(static_cast<uint64_t>(counts->documents), "document") + " of " +
              counted(static_cast<uint64_t>(counts->document_bytes), "byte") +
              ", but the collection has " + counted(static_cast<uint64_t>(documents), "document") +
              " of " + counted(static_cast<uint64_t>(bytes), "byte"));
    }
    if (last >= counts->next_record) {
      problem(metadata.ns.full() + ": the next record id is " +
              std::to_string(counts->next_record) + ", but record " + std::to_string(last) +
              " exists");
    }
    return {};
  }

  // Reports a patch, or a list of patches, that belongs to no record. check_records() detects
  // missing patches when it reads the document.
  Status check_patch(const CollectionMetadata& metadata, const TreeEntry& entry,
                     OverflowPages& pages) {
    GM_ASSIGN(const bool is_used, is_used_patch(trees_, metadata.records, entry));
    if (!is_used) {
      problem(metadata.ns.full() + ": the key " + to_hex(entry.key) +
              " is that of a patch which belongs to no record");
    } else if (const std::string defect = pages.defect(entry); !defect.empty()) {
      problem(metadata.ns.full() + ": the patch with the key " + to_hex(entry.key) + ": " + defect);
    }
    return {};
  }

  Status check_entries_of(const CollectionMetadata& metadata, RecordId id, bson::View document,
                          std::vector<uint64_t>& expected) {
    for (size_t i = 0; i < metadata.indexes.size(); ++i) {
      const IndexMetadata& index = metadata.indexes[i];
      if (index.is_outdated()) continue;
      if (const Status extracted = extract_keys(index.rules, document, keys_); !extracted) {
        index_problem(i, name(metadata, index) + ": record " + std::to_string(id) +
                             " cannot be indexed: " + extracted.error().message());
        continue;
      }
      if (keys_.multikey() && !index.multikey) {
        index_problem(i, name(metadata, index) + " is not marked as multikey, but record " +
                             std::to_string(id) + " has one");
      }
      for (size_t k = 0; k < keys_.size(); ++k) {
        set_index_key(key_, index, keys_[k], id);
        GM_ASSIGN(const std::optional<std::string_view> value,
                  trees_.get(trees_.tree(index.keyspace), key_));
        if (value) ++expected[i];
        if (!value) {
          index_problem(i,
                        name(metadata, index) + " lacks an entry for record " + std::to_string(id));
          record_entry(missing_entries_, index, id);
        } else if (record_id_of_entry(index, {key_, *value}) != id) {
          index_problem(i, name(metadata, index) + " has an entry for a key of record " +
                               std::to_string(id) + " that names another record");
        } else if (!is_sound(index, {key_, *value})) {
          index_problem(i, name(metadata, index) + " has an entry for record " +
                               std::to_string(id) + " whose checksum does not match it");
        } else if (const std::string_view kinds = kinds_of_value(index, *value);
                   !kinds.empty() && kinds != value_kinds(index.rules, document)) {
          index_problem(i, name(metadata, index) + " has other types than record " +
                               std::to_string(id) + " for one of its keys");
        }
      }
    }
    return {};
  }

  // Checks the opposite direction, from entries to documents. If there are as many entries as the
  // documents led to, there are no others. If not, follows each entry to its document.
  Status check_index(const CollectionMetadata& metadata, size_t i, uint64_t expected) {
    const IndexMetadata& index = metadata.indexes[i];
    uint64_t found = 0;
    GM_TRY(for_each_entry(index, [&](const TreeEntry&) {
      ++found;
      return Status();
    }));
    report_.index_entries += found;
    keys_per_index_.push_back(found);
    if (index.is_outdated()) {
      index_problem(i, name(metadata, index) + " has strings of the libraries' version " +
                           index.library_version + ", but this program has version " +
                           index.rules.library_version());
      return {};
    }
    if (found == expected) return {};
    index_problem(i, name(metadata, index) + " has " + counted(found, "entry", "entries") +
                         ", but its documents give " + counted(expected, "entry", "entries"));
    return for_each_entry(index, [&](const TreeEntry& found_entry) -> Status {
      const std::optional<RecordId> id = record_id_of_entry(index, found_entry);
      if (!id) {
        index_problem(i, name(metadata, index) + " holds an entry of the wrong form");
        return {};
      }
      GM_ASSIGN(const std::optional<std::string_view> record,
                get_record(trees_, metadata.records, *id));
      if (!record) {
        index_problem(i, name(metadata, index) + " names record " + std::to_string(*id) +
                             ", which does not exist");
        record_entry(extra_entries_, index, *id);
        return {};
      }
      // A damaged record has already been reported.
      const RecordKey key(metadata.records, *id);
      if (!record_defect(*record, Verify::kChecksum, key).empty()) return {};
      bson::Document patched;
      const Result<bson::View> whole = whole_document_of(trees_, metadata.ns, metadata.records, *id,
                                                         *record, Verify::kBounds, patched);
      if (!whole) return {};
      const bson::View document = *whole;
      if (!bson::validate(document.bytes()) || !extract_keys(index.rules, document, keys_)) {
        return {};
      }
      if (!keys_.contains(encoded_values_of_entry(index, found_entry.key))) {
        index_problem(i, name(metadata, index) + " has an entry for record " + std::to_string(*id) +
                             " that its document does not give");
        record_entry(extra_entries_, index, *id);
      }
      return {};
    });
  }

  template <typename Visit>
  Status for_each_entry(const IndexMetadata& index, const Visit& visit) {
    AscendingCursor cursor(read_view_.shared_trees(), trees_.tree(index.keyspace));
    cursor.set_range(keyspace_prefix(index.keyspace), keyspace_end(index.keyspace));
    while (true) {
      GM_TRY(query::check_interruption());
      GM_ASSIGN(const std::optional<TreeEntry> entry, cursor.next());
      if (!entry) return {};
      GM_TRY(visit(*entry));
    }
  }

  // Checks that every key in the trees belongs to a collection, an index or a released keyspace.
  Status check_keyspaces() {
    Result<std::vector<Keyspace>> released = catalog_.released_keyspaces();
    if (!released) {
      problem(released.error().message());
    } else {
      for (const Keyspace& keyspace : *released) claim(keyspace, "a dropped collection or index");
    }
    for (uint32_t tree = 0; tree < trees_.tree_count(); ++tree) {
      const Result<uint32_t> recorded = catalog_.keyspaces_in_tree(tree);
      if (!recorded) {
        problem(recorded.error().message());
        return {};
      }
      if (*recorded != keyspaces_[tree]) {
        problem("the catalog counts " + counted(*recorded, "keyspace") + " in tree " +
                std::to_string(tree) + ", but the tree has " +
                counted(keyspaces_[tree], "keyspace"));
      }
      GM_TRY(go_on_behind_damage("tree " + std::to_string(tree), check_tree(tree)));
    }
    return {};
  }

  Status renew_view() { return renew_ ? renew_() : Status(); }

  // Reports a damaged page as a problem, and continues after it.
  Status go_on_behind_damage(const std::string& where, const Status& checked) {
    if (checked || !renew_ || checked.error().code() != ErrorCode::kStoreDamaged) return checked;
    problem(where + ": " + checked.error().message());
    return renew_view();
  }

  // Jumps from keyspace to keyspace.
  Status check_tree(uint32_t tree) {
    AscendingCursor cursor(read_view_.shared_trees(), trees_.tree({tree, 0}));
    std::string from(1, '\0');           // LMDB has no empty keys
    const std::string end(512, '\xFF');  // above every key
    while (true) {
      cursor.set_range(from, end);
      GM_ASSIGN(const std::optional<TreeEntry> entry, cursor.next());
      if (!entry) return {};
      if (entry->key.size() < 4) {
        problem("tree " + std::to_string(tree) + " holds a key of " +
                counted(entry->key.size(), "byte") + ", which is too short");
        from = std::string(entry->key) + '\0';
        continue;
      }
      const uint32_t prefix = big_endian_32(entry->key);
      if (!owners_.contains(prefix)) {
        problem("tree " + std::to_string(tree) + " holds entries of the keyspace " +
                std::to_string(prefix) + ", which belongs to no collection or index");
      }
      if (prefix == std::numeric_limits<uint32_t>::max()) return {};
      from = keyspace_end({tree, prefix});
    }
  }

  // Reports keys of the catalog that belong to nothing, and lists that disagree with its entries.
  Status check_catalog() {
    GM_ASSIGN(const CatalogSurvey survey, survey_catalog(read_view_.shared_trees(), catalog_));
    for (const CatalogSurvey::OrphanKey& orphan : survey.orphan) {
      problem("the catalog holds " + orphan.what);
    }
    for (const engine::Namespace& ns : survey.expiring_unlisted) {
      problem(ns.full() + " is missing from the list of collections with a TTL index");
    }
    const Result<uint32_t> next = catalog_.next_prefix();
    // An unreadable value has already been reported.
    if (next && !owners_.empty() && *next <= owners_.rbegin()->first) {
      problem("the next keyspace is " + std::to_string(*next) + ", but the keyspace " +
              std::to_string(owners_.rbegin()->first) + " is in use");
    }
    return {};
  }

  static std::string name(const CollectionMetadata& metadata, const IndexMetadata& index) {
    return metadata.ns.full() + ": the index '" + index.definition.name + "'";
  }

  ReadView& read_view_;
  Trees& trees_;
  Catalog& catalog_;
  StructureReport report_;
  uint64_t left_out_ = 0;
  // The results of the collection that was checked last.
  std::vector<uint64_t> keys_per_index_;
  std::vector<bool> unsound_indexes_;
  std::vector<bson::Document> extra_entries_;
  std::vector<bson::Document> missing_entries_;
  std::vector<RecordId> corrupt_records_;
  int64_t invalid_documents_ = 0;
  int64_t noncompliant_documents_ = 0;
  std::map<uint32_t, std::string> owners_;  // by prefix
  std::map<uint32_t, uint32_t> keyspaces_;  // the number of keyspaces per tree
  std::function<void()> record_read_;
  std::function<Status()> renew_;
  KeySet keys_;
  std::string key_;
};

}  // namespace

Result<bson::Document> LocalDatabase::validate(engine::Snapshot& snapshot,
                                               std::string_view collection) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  const engine::Namespace name = ns(collection);
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata,
            read_view->catalog().find(name));
  if (!metadata) {
    return fail(ErrorCode::kNamespaceNotFound,
                "Collection '" + name.full() + "' does not exist to validate.");
  }
  if (metadata->settings.is_view()) {
    return fail(ErrorCode::kCommandNotSupportedOnView, "Cannot validate a view: " + name.full());
  }
  return StructureCheck(*read_view).validate(*metadata);
}

Result<StructureReport> check_structure(engine::Store& store,
                                        const std::function<void()>& record_read) {
  auto* local = dynamic_cast<LocalStore*>(&store);
  if (local == nullptr) {
    return fail(ErrorCode::kIllegalOperation, "only an embedded store's structure can be checked");
  }
  GM_ASSIGN(const std::unique_ptr<LocalSnapshot> snapshot, local->local_snapshot());
  const auto renew = [&]() -> Status {
    GM_TRY(snapshot->pause());
    return snapshot->resume();
  };
  StructureCheck check(*snapshot->read_view(), record_read, renew);
  GM_ASSIGN(const PageReport pages, local->environment().survey_pages());
  check.record_pages(pages);
  return check.run();
}

namespace {

Result<PageReport> survey_pages_of(engine::Store& store) {
  auto* local = dynamic_cast<LocalStore*>(&store);
  if (local == nullptr) {
    return fail(ErrorCode::kIllegalOperation, "only an embedded store has pages");
  }
  return local->environment().survey_pages();
}

}  // namespace

Result<std::vector<std::string>> free_list_problems(engine::Store& store) {
  GM_ASSIGN(PageReport report, survey_pages_of(store));
  return std::move(report.problems);
}

Result<uint64_t> damaged_pages(engine::Store& store) {
  GM_ASSIGN(const PageReport report, survey_pages_of(store));
  return report.damaged;
}

}  // namespace gridmount::local
