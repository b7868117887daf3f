#include "engine/local/indexes/index_build.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/local/catalog/patched_records.h"
#include "engine/local/catalog/records.h"
#include "engine/local/format/index_key_encoding.h"
#include "engine/local/format/index_value.h"
#include "engine/local/indexes/duplicate_key.h"
#include "engine/local/indexes/index_writer.h"
#include "engine/local/storage/range_cursor.h"

namespace gridmount::local {
namespace {

// Keys are sorted in batches of this size before they are put into the tree, so that the pages of
// the tree fill in order.
constexpr size_t kBatchBytes = 32 * 1024 * 1024;

struct NewEntry {
  std::string encoded;
  RecordId id;
  std::string kinds;
  friend auto operator<=>(const NewEntry&, const NewEntry&) = default;
};

Status put_batch(Trees& trees, const CollectionMetadata& metadata, const IndexMetadata& index,
                 std::vector<NewEntry>& batch) {
  std::sort(batch.begin(), batch.end());
  const MDB_dbi tree = trees.tree(index.keyspace);
  std::string key;
  for (const NewEntry& added : batch) {
    set_index_key(key, index, added.encoded, added.id);
    GM_ASSIGN(const std::optional<TreeEntry> found, trees.at_or_after(tree, key));
    if (found && found->key == key) {
      GM_ASSIGN(const std::optional<std::string_view> record,
                get_record(trees, metadata.records, added.id));
      bson::View document;
      bson::Document patched;
      if (record) {
        GM_ASSIGN(document, whole_document_of(trees, metadata.ns, metadata.records, added.id,
                                              *record, Verify::kChecksum, patched));
      }
      return fail(duplicate_key(metadata, index, document, added.encoded));
    }
    GM_TRY(trees.put(tree, key, index_value(index, key, added.id, added.kinds)));
  }
  batch.clear();
  return {};
}

}  // namespace

Result<bool> build_index_step(const std::shared_ptr<Trees>& trees,
                              const CollectionMetadata& metadata, const IndexMetadata& index,
                              const IndexBuildLimits& limits, std::string& from, bool& multikey) {
  std::vector<NewEntry> batch;
  size_t batch_bytes = 0;
  KeySet keys;
  RangeCursor cursor(trees, trees->tree(metadata.records));
  cursor.set_proving();
  cursor.set_range(from.empty() ? keyspace_prefix(metadata.records) : from,
                   keyspace_end(metadata.records), false);
  bool done = false;
  while (batch.size() < limits.entries && batch_bytes <= limits.bytes) {
    GM_ASSIGN(const std::optional<TreeEntry> record, cursor.next());
    if (!record) {
      done = true;
      break;
    }
    if (is_of_patches(record->key)) continue;
    const RecordId id = record_id_of(record->key).value_or(0);
    bson::Document patched;
    GM_ASSIGN(const bson::View document,
              whole_document_of(*trees, metadata.ns, metadata.records, id, record->value,
                                Verify::kChecksum, patched));
    GM_TRY(extract_keys(index.rules, document, keys));
    multikey = multikey || keys.multikey();
    const std::string kinds = value_kinds(index.rules, document);
    for (size_t i = 0; i < keys.size(); ++i) {
      batch.push_back({std::string(keys[i]), id, kinds});
      batch_bytes += keys[i].size() + sizeof(NewEntry);
    }
    from = std::string(record->key) + '\0';
  }
  GM_TRY(put_batch(*trees, metadata, index, batch));
  return done;
}

Status build_index(const std::shared_ptr<Trees>& trees, const CollectionMetadata& metadata,
                   const IndexMetadata& index, bool& multikey) {
  std::string from;
  while (true) {
    GM_ASSIGN(const bool done,
              build_index_step(trees, metadata, index, {.entries = SIZE_MAX, .bytes = kBatchBytes},
                               from, multikey));
    if (done) return {};
  }
}

}  // namespace gridmount::local
