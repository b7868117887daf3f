#include "engine/local/integrity/collection_repair.h"

#include <utility>

#include "engine/base/counted.h"
#include "engine/base/hex.h"
#include "engine/local/catalog/patched_records.h"
#include "engine/local/catalog/records.h"
#include "engine/local/format/index_value.h"
#include "engine/local/indexes/entry_reading.h"
#include "engine/local/indexes/index_writer.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/storage/ascending_cursor.h"

namespace gridmount::local {
namespace {

// Limits of one transaction.
constexpr uint64_t kLookedAtMax = 10'000;
constexpr uint64_t kChangesMax = 1'000;
constexpr uint64_t kBytesMax = 16 * 1024 * 1024;

}  // namespace

bool CollectionRepair::Step::full() const {
  return looked_at >= kLookedAtMax || changes >= kChangesMax || bytes >= kBytesMax;
}

Status CollectionRepair::run() {
  Status repaired = repair_all();
  report_tallies();
  return repaired;
}

Status CollectionRepair::repair_all() {
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
    ReadView& read_view = *dynamic_cast<ReadViewHolder&>(*snapshot).read_view();
    GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata,
              read_view.catalog().find(ns_));
    if (!metadata) return {};
    pages_ = OverflowPages::of(read_view.shared_trees(), read_view.trees().tree(metadata->records));
    pages_.count();
  }
  GM_TRY(in_steps([&](Step& step) -> Result<bool> {
    from_ = keyspace_prefix(step.metadata->records);
    tallies_.assign(step.metadata->indexes.size(), {});
    for (const IndexMetadata& index : step.metadata->indexes) {
      index_names_.push_back(index.definition.name);
      multikey_.push_back(index.multikey);
    }
    return true;
  }));
  GM_TRY(in_steps([&](Step& step) { return repair_records(step); }));
  for (size_t i = 0; i < tallies_.size(); ++i) {
    GM_ASSIGN(const uint64_t found, count_entries(i));
    // Every required entry exists by now. So if the numbers are equal, there are no other entries.
    if (found == tallies_[i].expected) continue;
    std::string from;
    GM_TRY(in_steps([&](Step& step) { return repair_index(step, i, from); }));
  }
  GM_TRY(in_steps([&](Step& step) -> Result<bool> {
    GM_TRY(repair_counts(step));
    return true;
  }));
  return in_steps([&](Step& step) -> Result<bool> {
    GM_TRY(mark_current(step));
    return true;
  });
}

// Marks outdated indexes as current. All their entries have been replaced by now. An index stays
// outdated until then, so that an interrupted repair begins again.
Status CollectionRepair::mark_current(Step& step) {
  CollectionMetadata changed = *step.metadata;
  bool any = false;
  for (IndexMetadata& index : changed.indexes) {
    if (!index.is_outdated()) continue;
    step.lines.push_back("the index '" + index.definition.name +
                         "' was made anew, as its strings were of the libraries' version " +
                         index.library_version);
    index.library_version = index.rules.library_version();
    any = true;
  }
  if (!any) return {};
  ++step.changes;
  GM_ASSIGN(step.metadata, step.read_view->catalog().put(std::move(changed)));
  return {};
}

Status CollectionRepair::in_steps(const std::function<Result<bool>(Step&)>& work) {
  while (true) {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    Step step;
    step.read_view = dynamic_cast<ReadViewHolder&>(*transaction).read_view().get();
    GM_ASSIGN(step.metadata, step.read_view->catalog().find(ns_));
    if (!step.metadata) return {};
    GM_ASSIGN(const bool done, work(step));
    if (step.changes > 0) {
      GM_TRY(options_.removed.sync());
      GM_TRY(transaction->commit());
    }
    for (const std::string& line : step.lines) report(line);
    if (done) return {};
  }
}

void CollectionRepair::report(const std::string& line) {
  ++repaired_;
  options_.repaired(ns_.full() + ": " + line);
}

void CollectionRepair::report_tallies() {
  for (size_t i = 0; i < tallies_.size(); ++i) {
    const IndexTally& tally = tallies_[i];
    if (tally.added + tally.corrected + tally.removed == 0) continue;
    std::string text;
    const auto add = [&](uint64_t count, const std::string& what) {
      if (count == 0) return;
      text += (text.empty() ? "" : ", ") + counted(count, "entry was ", "entries were ") + what;
    };
    add(tally.added, "added");
    add(tally.corrected, "corrected");
    add(tally.removed, "removed");
    report("the index '" + index_names_[i] + "' was repaired: " + text);
  }
}

Result<bool> CollectionRepair::repair_records(Step& step) {
  const std::shared_ptr<Trees>& trees = step.read_view->shared_trees();
  AscendingCursor cursor(trees, trees->tree(step.metadata->records));
  cursor.set_range(from_, keyspace_end(step.metadata->records));
  while (!step.full()) {
    GM_ASSIGN(const std::optional<TreeEntry> record, cursor.next());
    if (!record) {
      GM_TRY(mark_multikey(step));
      return true;
    }
    from_ = std::string(record->key) + '\0';
    if (is_of_patches(record->key)) {
      GM_TRY(repair_patch(step, *record));
    } else {
      GM_TRY(repair_record(step, *record));
    }
  }
  GM_TRY(mark_multikey(step));
  return false;
}

Status CollectionRepair::repair_record(Step& step, const TreeEntry& record) {
  ++step.looked_at;
  ++records_;
  const std::optional<RecordId> id = record_id_of(record.key);
  if (!id) {
    return remove_bytes(step, record, "a record",
                        "its key has " + counted(record.key.size(), "byte") + " instead of " +
                            std::to_string(kRecordKeyBytes));
  }
  last_ = *id;
  const RecordKey key(step.metadata->records, *id);
  const std::string defect = record_defect(record.value, Verify::kChecksum, key);
  if (!defect.empty()) {
    return remove_bytes(step, record, record_name(record.value, *id), defect);
  }
  bson::Document patched;
  const Result<bson::View> whole =
      whole_document_of(step.read_view->trees(), ns_, step.metadata->records, *id, record.value,
                        Verify::kBounds, patched);
  if (!whole) {
    if (whole.error().code() != ErrorCode::kDataCorruptionDetected) return fail(whole.error());
    return remove_bytes(step, record, record_name(record.value, *id),
                        "its patches are damaged or missing");
  }
  const bson::View document = *whole;
  if (const Result<bson::View> valid = bson::validate(document.bytes()); !valid) {
    return remove_bytes(step, record, "record " + std::to_string(*id),
                        "it is not valid BSON: " + valid.error().message());
  }
  if (const std::string page_defect = pages_.defect(record); !page_defect.empty()) {
    report_unrepairable(record_name(record.value, *id) + ": " + page_defect);
  }
  return index_document(step, *id);
}

// Removes a patch that belongs to no record. The patches of a record that was removed come here
// too, because their keys follow its key.
Status CollectionRepair::repair_patch(Step& step, const TreeEntry& entry) {
  ++step.looked_at;
  Trees& trees = step.read_view->trees();
  GM_ASSIGN(const bool is_used, is_used_patch(trees, step.metadata->records, entry));
  const std::string defect = pages_.defect(entry);
  const std::string what = "the patch with the key " + to_hex(entry.key);
  if (!defect.empty()) report_unrepairable(what + ": " + defect);
  if (is_used || !defect.empty()) return {};
  const std::string why = "it belongs to no record";
  GM_TRY(options_.removed.keep_bytes(ns_, what, why, entry.value));
  ++step.changes;
  step.bytes += entry.value.size();
  step.lines.push_back("removed " + what + ": " + why);
  return trees.remove(trees.tree(step.metadata->records), std::string(entry.key));
}

Status CollectionRepair::remove_bytes(Step& step, const TreeEntry& record, const std::string& what,
                                      const std::string& why) {
  if (!can_be_removed(record, record_id_of(record.key).value_or(0))) return {};
  GM_TRY(options_.removed.keep_bytes(ns_, what, why, record.value));
  ++step.changes;
  step.bytes += record.value.size();
  step.lines.push_back("removed " + what + ": " + why);
  Trees& trees = step.read_view->trees();
  return trees.remove(trees.tree(step.metadata->records), std::string(record.key));
}

Status CollectionRepair::index_document(Step& step, RecordId id) {
  Trees& trees = step.read_view->trees();
  std::vector<MissingEntry> missing;
  while (true) {
    // Read the record again in each round, because the removal of another record ends the views.
    GM_ASSIGN(const std::optional<std::string_view> record,
              get_record(trees, step.metadata->records, id));
    if (!record) return {};
    bson::Document patched;
    GM_ASSIGN(const bson::View document, whole_document_of(trees, ns_, step.metadata->records, id,
                                                           *record, Verify::kBounds, patched));
    missing.clear();
    GM_ASSIGN(const std::optional<Conflict> conflict, find_missing(step, id, document, missing));
    if (!conflict) {
      ++documents_;
      bytes_ += document.size();
      return put_entries(step, missing);
    }
    if (conflict->record <= id) return remove_document(step, id, document, conflict->why);
    GM_ASSIGN(const std::optional<std::string_view> later,
              get_record(trees, step.metadata->records, conflict->record));
    if (!later) continue;
    bson::Document patched_later;
    GM_ASSIGN(const bson::View in_the_way,
              whole_document_of(trees, ns_, step.metadata->records, conflict->record, *later,
                                Verify::kBounds, patched_later));
    if (!pages_.defect({RecordKey(step.metadata->records, conflict->record).view(), *later})
             .empty()) {
      // The later record has to stay, and is counted when it is reached. So remove this one.
      return remove_document(step, id, document, conflict->why);
    }
    GM_TRY(remove_document(step, conflict->record, in_the_way, conflict->why));
  }
}

Result<std::optional<CollectionRepair::Conflict>> CollectionRepair::find_missing(
    const Step& step, RecordId id, bson::View document, std::vector<MissingEntry>& missing) {
  const Trees& trees = step.read_view->trees();
  std::vector<uint64_t> keys_of(tallies_.size());
  std::vector<bool> arrays(tallies_.size());
  std::string key;
  for (size_t i = 0; i < tallies_.size(); ++i) {
    const IndexMetadata& index = step.metadata->indexes[i];
    if (const Status extracted = extract_keys(index.rules, document, keys_); !extracted) {
      return std::optional(Conflict{id, "it cannot be in the index '" + index_names_[i] +
                                            "': " + extracted.error().message()});
    }
    const std::string kinds = value_kinds(index.rules, document);
    keys_of[i] = keys_.size();
    arrays[i] = keys_.multikey();
    for (size_t k = 0; k < keys_.size(); ++k) {
      set_index_key(key, index, keys_[k], id);
      GM_ASSIGN(const std::optional<std::string_view> value,
                trees.get(trees.tree(index.keyspace), key));
      if (value) {
        const std::string_view found_kinds = kinds_of_value(index, *value);
        const bool own = record_id_of_entry(index, {key, *value}) == id;
        const bool sound = is_sound(index, {key, *value});
        if (own && sound && (found_kinds.empty() || found_kinds == kinds)) continue;
        if (!own) {
          GM_ASSIGN(const std::optional<RecordId> owner,
                    rightful_owner(step, index, {key, *value}));
          if (owner) {
            const RecordId first = std::min(*owner, id);
            return std::optional(
                Conflict{*owner, "the index '" + index_names_[i] + "' is unique, and record " +
                                     std::to_string(first) + ", which stays, has the same key"});
          }
        }
      }
      missing.push_back({i, value.has_value(), key, index_value(index, key, id, kinds)});
    }
  }
  for (size_t i = 0; i < tallies_.size(); ++i) {
    tallies_[i].expected += keys_of[i];
    multikey_[i] = multikey_[i] || arrays[i];
  }
  return std::optional<Conflict>();
}

Result<std::optional<RecordId>> CollectionRepair::rightful_owner(const Step& step,
                                                                 const IndexMetadata& index,
                                                                 const TreeEntry& entry) {
  const Trees& trees = step.read_view->trees();
  const std::optional<RecordId> id = record_id_of_entry(index, entry);
  if (!id) return std::optional<RecordId>();
  GM_ASSIGN(const std::optional<std::string_view> record,
            get_record(trees, step.metadata->records, *id));
  const RecordKey key(step.metadata->records, *id);
  if (!record || !record_defect(*record, Verify::kChecksum, key).empty()) {
    return std::optional<RecordId>();
  }
  bson::Document patched;
  const Result<bson::View> whole =
      whole_document_of(trees, ns_, step.metadata->records, *id, *record, Verify::kBounds, patched);
  if (!whole) return std::optional<RecordId>();
  const bson::View document = *whole;
  if (!bson::validate(document.bytes()) || !extract_keys(index.rules, document, other_keys_) ||
      !other_keys_.contains(encoded_values_of_entry(index, entry.key))) {
    return std::optional<RecordId>();
  }
  return id;
}

Status CollectionRepair::put_entries(Step& step, const std::vector<MissingEntry>& missing) {
  Trees& trees = step.read_view->trees();
  for (const MissingEntry& entry : missing) {
    GM_TRY(trees.put(trees.tree(step.metadata->indexes[entry.index].keyspace), entry.key,
                     entry.value));
    ++step.changes;
    step.bytes += entry.key.size();
    IndexTally& tally = tallies_[entry.index];
    ++(entry.corrects ? tally.corrected : tally.added);
  }
  return {};
}

Status CollectionRepair::mark_multikey(Step& step) {
  CollectionMetadata changed = *step.metadata;
  bool any = false;
  for (size_t i = 0; i < multikey_.size(); ++i) {
    if (!multikey_[i] || changed.indexes[i].multikey) continue;
    changed.indexes[i].multikey = true;
    any = true;
    step.lines.push_back("the index '" + index_names_[i] + "' is marked as holding arrays");
  }
  if (!any) return {};
  ++step.changes;
  GM_ASSIGN(step.metadata, step.read_view->catalog().put(std::move(changed)));
  return {};
}

Status CollectionRepair::remove_document(Step& step, RecordId id, bson::View document,
                                         const std::string& why) {
  {
    const RecordKey own_key(step.metadata->records, id);
    GM_ASSIGN(const std::optional<std::string_view> own,
              get_record(step.read_view->trees(), step.metadata->records, id));
    if (!own || !can_be_removed({own_key.view(), *own}, id)) return {};
  }
  GM_TRY(options_.removed.keep_document(ns_, document));
  ++step.changes;
  step.bytes += document.size();
  Trees& trees = step.read_view->trees();
  std::vector<std::pair<MDB_dbi, std::string>> entries;
  std::string key;
  for (const IndexMetadata& index : step.metadata->indexes) {
    if (!extract_keys(index.rules, document, other_keys_)) continue;
    for (size_t k = 0; k < other_keys_.size(); ++k) {
      set_index_key(key, index, other_keys_[k], id);
      GM_ASSIGN(const std::optional<std::string_view> value,
                trees.get(trees.tree(index.keyspace), key));
      if (value && record_id_of_entry(index, {key, *value}) == id) {
        entries.emplace_back(trees.tree(index.keyspace), key);
      }
    }
  }
  GM_ASSIGN(const std::optional<std::string_view> record,
            get_record(trees, step.metadata->records, id));
  step.lines.push_back("removed " + record_name(record.value_or(std::string_view()), id) + ": " +
                       why);
  for (const auto& [tree, entry] : entries) GM_TRY(trees.remove(tree, entry));
  return trees.remove(trees.tree(step.metadata->records),
                      RecordKey(step.metadata->records, id).view());
}

bool CollectionRepair::can_be_removed(const TreeEntry& record, RecordId id) {
  const std::string defect = pages_.defect(record);
  if (defect.empty()) return true;
  // The record stays, so the counts include it.
  ++documents_;
  bytes_ += static_cast<int64_t>(record.value.size()) - static_cast<int64_t>(kRecordHeaderBytes);
  report_unrepairable(record_name(record.value, id) + ": " + defect);
  return false;
}

void CollectionRepair::report_unrepairable(const std::string& what) {
  if (unrepairable_.size() < kMaxProblems) unrepairable_.push_back(ns_.full() + ": " + what);
}

Result<uint64_t> CollectionRepair::count_entries(size_t i) {
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
  ReadView& read_view = *dynamic_cast<ReadViewHolder&>(*snapshot).read_view();
  GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata,
            read_view.catalog().find(ns_));
  const Keyspace keyspace = metadata->indexes[i].keyspace;
  AscendingCursor cursor(read_view.shared_trees(), read_view.trees().tree(keyspace));
  cursor.set_range(keyspace_prefix(keyspace), keyspace_end(keyspace));
  for (uint64_t count = 0;; ++count) {
    GM_ASSIGN(const std::optional<TreeEntry> found, cursor.next());
    if (!found) return count;
  }
}

Result<bool> CollectionRepair::repair_index(Step& step, size_t i, std::string& from) {
  const IndexMetadata& index = step.metadata->indexes[i];
  const std::shared_ptr<Trees>& trees = step.read_view->shared_trees();
  const MDB_dbi tree = trees->tree(index.keyspace);
  AscendingCursor cursor(trees, tree);
  cursor.set_range(from.empty() ? keyspace_prefix(index.keyspace) : from,
                   keyspace_end(index.keyspace));
  while (!step.full()) {
    GM_ASSIGN(const std::optional<TreeEntry> entry, cursor.next());
    if (!entry) return true;
    from = std::string(entry->key) + '\0';
    ++step.looked_at;
    GM_ASSIGN(const bool backed, is_backed(step, index, *entry));
    if (backed) continue;
    ++step.changes;
    ++tallies_[i].removed;
    GM_TRY(trees->remove(tree, std::string(entry->key)));
  }
  return false;
}

Result<bool> CollectionRepair::is_backed(const Step& step, const IndexMetadata& index,
                                         const TreeEntry& entry) {
  if (!record_id_of_entry(index, entry)) return false;
  // All documents of this collection are sound by now, so an entry without an owner is one that no
  // document has.
  GM_ASSIGN(const std::optional<RecordId> owner, rightful_owner(step, index, entry));
  return owner.has_value();
}

Status CollectionRepair::repair_counts(Step& step) {
  Catalog& catalog = step.read_view->catalog();
  const Result<Counts> recorded = catalog.counts(*step.metadata);
  if (!recorded && recorded.error().code() != ErrorCode::kStoreDamaged)
    return fail(recorded.error());
  Counts right{documents_, bytes_, last_ + 1};
  if (recorded) right.next_record = std::max(right.next_record, recorded->next_record);
  if (recorded && recorded->documents == right.documents &&
      recorded->document_bytes == right.document_bytes &&
      recorded->next_record == right.next_record) {
    return {};
  }
  lost_documents_ = !recorded || recorded->documents > right.documents;
  ++step.changes;
  step.lines.push_back(
      "the catalog counts " + counted(static_cast<uint64_t>(documents_), "document") + " of " +
      counted(static_cast<uint64_t>(bytes_), "byte") + " now; before, " +
      (recorded ? "it counted " + counted(static_cast<uint64_t>(recorded->documents), "document") +
                      " of " + counted(static_cast<uint64_t>(recorded->document_bytes), "byte")
                : std::string("its counts were damaged")));
  catalog.replace_counts(*step.metadata, right);
  return {};
}

}  // namespace gridmount::local
