#include "engine/local/catalog/patched_records.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "engine/local/catalog/records.h"
#include "engine/local/format/raw_number.h"

namespace gridmount::local {
namespace {

constexpr uint32_t kLengthBytes = 4;

tl::unexpected<Error> damaged(const engine::Namespace& ns, RecordId id, const std::string& why) {
  return fail(ErrorCode::kDataCorruptionDetected,
              ns.full() + ": record " + std::to_string(id) + " is damaged: " + why +
                  "; run 'gridstore check --repair', or restore the document from a backup");
}

// Returns whether a list with these fields fits a document of `bytes` bytes in the record.
bool fits(const PatchList& list, uint32_t bytes) {
  constexpr uint32_t kBytesMax = bson::kMaxDocumentBytes + bson::kInternalOverhead;
  if (list.document_bytes < bytes || list.document_bytes > kBytesMax) return false;
  return list.document_bytes == bytes ||
         (list.length_at >= kLengthBytes && list.length_at < bytes - kLengthBytes);
}

}  // namespace

Result<PatchList> get_patch_list(const Trees& trees, const engine::Namespace& ns,
                                 const Keyspace& records, RecordId id) {
  const std::string key = patch_list_key(RecordKey(records, id));
  GM_ASSIGN(const std::optional<std::string_view> value, trees.get(trees.tree(records), key));
  if (!value) return damaged(ns, id, "the list of its patches is missing");
  std::optional<PatchList> list = parse_patch_list(records.tree, key, *value);
  if (!list) return damaged(ns, id, "the list of its patches does not match its checksum");
  return *std::move(list);
}

Result<bson::Document> apply_patches(const Trees& trees, const engine::Namespace& ns,
                                     const Keyspace& records, RecordId id, bson::View document,
                                     const PatchList& list) {
  if (!fits(list, document.size())) return damaged(ns, id, "its patches do not fit it");
  std::vector<uint8_t> bytes(list.document_bytes);
  std::memcpy(bytes.data(), document.data(), document.size());
  const uint32_t growth = list.document_bytes - document.size();
  if (growth > 0) {
    const auto length = load<uint32_t>(bytes, list.length_at);
    store<uint32_t>(bytes, list.length_at, length + growth);
    store<uint32_t>(bytes, 0, list.document_bytes);
  }
  const RecordKey record(records, id);
  for (const uint32_t offset : list.offsets) {
    const std::string key = patch_key(record, offset);
    GM_ASSIGN(const std::optional<std::string_view> value, trees.get(trees.tree(records), key));
    if (!value) return damaged(ns, id, "one of its patches is missing");
    const std::optional<std::string_view> patch = parse_patch(records.tree, key, *value);
    if (!patch) return damaged(ns, id, "one of its patches does not match its checksum");
    // The last byte is the document's final NUL.
    if (offset > bytes.size() - 1 || patch->size() > bytes.size() - 1 - offset) {
      return damaged(ns, id, "one of its patches does not fit it");
    }
    std::memcpy(bytes.data() + offset, patch->data(), patch->size());
  }
  return bson::Document(std::move(bytes));
}

Result<bson::View> whole_document_of(const Trees& trees, const engine::Namespace& ns,
                                     const Keyspace& records, RecordId id, std::string_view value,
                                     Verify verify, bson::Document& patched) {
  GM_ASSIGN(const bson::View document, document_of(value, verify, ns, RecordKey(records, id)));
  if (!is_patchable(value)) return document;
  GM_ASSIGN(const PatchList list, get_patch_list(trees, ns, records, id));
  if (list.offsets.empty() && list.document_bytes == document.size()) return document;
  GM_ASSIGN(patched, apply_patches(trees, ns, records, id, document, list));
  return patched.view();
}

Result<bool> is_used_patch(const Trees& trees, const Keyspace& records, const TreeEntry& entry) {
  const RecordId id = record_id_of(record_key_of_patch(entry.key)).value_or(0);
  const RecordKey record(records, id);
  GM_ASSIGN(const std::optional<std::string_view> value, get_record(trees, records, id));
  if (!value || !record_defect(*value, Verify::kBounds, record).empty() || !is_patchable(*value)) {
    return false;
  }
  if (is_patch_list_key(entry.key)) {
    return parse_patch_list(records.tree, entry.key, entry.value).has_value();
  }
  const std::string list_key = patch_list_key(record);
  GM_ASSIGN(const std::optional<std::string_view> stored, trees.get(trees.tree(records), list_key));
  if (!stored) return false;
  const std::optional<PatchList> list = parse_patch_list(records.tree, list_key, *stored);
  const uint32_t offset = big_endian_32(entry.key.substr(kRecordKeyBytes));
  return list && std::binary_search(list->offsets.begin(), list->offsets.end(), offset) &&
         parse_patch(records.tree, entry.key, entry.value).has_value();
}

Status remove_patches(Trees& trees, const engine::Namespace& ns, const Keyspace& records,
                      RecordId id) {
  GM_ASSIGN(const std::optional<std::string_view> value, get_record(trees, records, id));
  if (!value || value->size() < kRecordHeaderBytes || !is_patchable(*value)) return {};
  GM_ASSIGN(const PatchList list, get_patch_list(trees, ns, records, id));
  const RecordKey record(records, id);
  const MDB_dbi tree = trees.tree(records);
  for (const uint32_t offset : list.offsets) {
    GM_TRY(trees.remove(tree, patch_key(record, offset)));
  }
  return trees.remove(tree, patch_list_key(record));
}

Status put_new_patchable_record(Trees& trees, const Keyspace& records, RecordId id,
                                bson::View document) {
  GM_TRY(put_record(trees, records, id, document, true, true));
  const MDB_dbi tree = trees.tree(records);
  const std::string list_key = patch_list_key(RecordKey(records, id));
  const std::string list = patch_list_value({document.size(), 0, {}}, records.tree, list_key);
  GM_ASSIGN(uint8_t* const list_value, trees.reserve_at_end(tree, list_key, list.size()));
  std::memcpy(list_value, list.data(), list.size());
  return {};
}

Status put_patchable_record(Trees& trees, const engine::Namespace& ns, const Keyspace& records,
                            RecordId id, bson::View document) {
  GM_TRY(remove_patches(trees, ns, records, id));
  GM_TRY(put_record(trees, records, id, document, false, true));
  return put_patches(trees, records, id, {}, {document.size(), 0, {}});
}

Status put_patches(Trees& trees, const Keyspace& records, RecordId id,
                   const std::vector<std::pair<uint32_t, std::string>>& patches,
                   const PatchList& list) {
  const RecordKey record(records, id);
  const MDB_dbi tree = trees.tree(records);
  for (const auto& [offset, bytes] : patches) {
    const std::string key = patch_key(record, offset);
    GM_TRY(trees.put(tree, key, patch_value(bytes, records.tree, key)));
  }
  const std::string key = patch_list_key(record);
  return trees.put(tree, key, patch_list_value(list, records.tree, key));
}

}  // namespace gridmount::local
