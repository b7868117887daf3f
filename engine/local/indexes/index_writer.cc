#include "engine/local/indexes/index_writer.h"

#include "engine/local/catalog/records.h"
#include "engine/local/format/index_value.h"
#include "engine/local/indexes/duplicate_key.h"
#include "engine/local/indexes/entry_reading.h"

namespace gridmount::local {

void set_index_key(std::string& key, const IndexMetadata& index, std::string_view encoded,
                   RecordId id) {
  key.clear();
  append_big_endian_32(key, index.keyspace.prefix);
  key += encoded;
  if (!index.definition.unique) append_big_endian_64(key, id);
}

IndexWriter::IndexWriter(Trees& trees, const CollectionMetadata& metadata)
    : trees_(trees), metadata_(metadata), changes_(metadata.indexes.size()) {}

void IndexWriter::begin(RecordId id) {
  id_ = id;
  for (Change& change : changes_) {
    change.removed.clear();
    change.added.clear();
    change.active = false;
  }
}

Status IndexWriter::prepare_insert(bson::View document, RecordId id) {
  begin(id);
  for (size_t i = 0; i < changes_.size(); ++i) {
    changes_[i].active = true;
    GM_TRY(extract_keys(metadata_.indexes[i].rules, document, changes_[i].added));
    changes_[i].added_kinds = value_kinds(metadata_.indexes[i].rules, document);
  }
  for (size_t i = 0; i < changes_.size(); ++i) GM_TRY(check_unique(i, document));
  return {};
}

Status IndexWriter::prepare_update(bson::View before, bson::View after, RecordId id,
                                   const std::vector<bool>& affected) {
  begin(id);
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (!affected[i]) continue;
    changes_[i].active = true;
    GM_TRY(extract_keys(metadata_.indexes[i].rules, before, changes_[i].removed));
    GM_TRY(extract_keys(metadata_.indexes[i].rules, after, changes_[i].added));
    changes_[i].removed_kinds = value_kinds(metadata_.indexes[i].rules, before);
    changes_[i].added_kinds = value_kinds(metadata_.indexes[i].rules, after);
  }
  for (size_t i = 0; i < changes_.size(); ++i) GM_TRY(check_unique(i, after));
  return {};
}

Status IndexWriter::prepare_remove(bson::View document, RecordId id) {
  begin(id);
  for (size_t i = 0; i < changes_.size(); ++i) {
    changes_[i].active = true;
    GM_TRY(extract_keys(metadata_.indexes[i].rules, document, changes_[i].removed));
  }
  return {};
}

Status IndexWriter::check_unique(size_t i, bson::View document) {
  const IndexMetadata& index = metadata_.indexes[i];
  const Change& change = changes_[i];
  if (!change.active || !index.definition.unique) return {};
  for (size_t k = 0; k < change.added.size(); ++k) {
    const std::string_view encoded = change.added[k];
    if (change.removed.contains(encoded)) continue;
    set_index_key(key_, index, encoded, id_);
    GM_ASSIGN(const std::optional<TreeEntry> found,
              trees_.at_or_after(trees_.tree(index.keyspace), key_));
    if (found && found->key == key_) {
      GM_TRY(verified_record_id_of_entry(metadata_, index, *found));
      return fail(duplicate_key(metadata_, index, document, encoded));
    }
    if (!index.checksums) continue;
    Status proved = trees_.prove_absent(trees_.tree(index.keyspace), key_, found);
    if (!proved) return fail(with_index_name(std::move(proved).error(), metadata_, index));
  }
  return {};
}

std::vector<size_t> IndexWriter::becoming_multikey() const {
  std::vector<size_t> becoming;
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (changes_[i].added.multikey() && !metadata_.indexes[i].multikey) becoming.push_back(i);
  }
  return becoming;
}

Status IndexWriter::apply() {
  for (size_t i = 0; i < changes_.size(); ++i) {
    const Change& change = changes_[i];
    if (!change.active) continue;
    const IndexMetadata& index = metadata_.indexes[i];
    const MDB_dbi tree = trees_.tree(index.keyspace);
    for (size_t k = 0; k < change.removed.size(); ++k) {
      if (change.added.contains(change.removed[k])) continue;
      set_index_key(key_, index, change.removed[k], id_);
      GM_TRY(trees_.remove(tree, key_));
    }
    // A value that changes only its type, such as 5 to 5.0, keeps its key but not its kinds.
    const bool same_kinds = change.removed_kinds == change.added_kinds;
    for (size_t k = 0; k < change.added.size(); ++k) {
      if (same_kinds && change.removed.contains(change.added[k])) continue;
      set_index_key(key_, index, change.added[k], id_);
      // For a unique index, check_unique() has already moved the cursor to the position of the new
      // key.
      if (!index.definition.unique) GM_TRY(trees_.at_or_after(tree, key_));
      GM_TRY(trees_.put(tree, key_, index_value(index, key_, id_, change.added_kinds)));
    }
  }
  return {};
}

}  // namespace gridmount::local
