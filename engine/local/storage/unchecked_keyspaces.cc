#include "engine/local/storage/unchecked_keyspaces.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/local/format/catalog_keys.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/ascending_cursor.h"

namespace gridmount::local {
namespace {

// Returns whether the entry is a record without a checksum of its key. Returns false for an index
// entry whose key was damaged so that it looks like a key of this keyspace.
bool is_plain_record(const TreeEntry& entry, const Keyspace& records) {
  const std::optional<RecordId> id = record_id_of(entry.key);
  if (!id || entry.value.size() <= kRecordHeaderBytes) return false;
  return static_cast<uint8_t>(entry.value[4]) == kPlainRecord &&
         record_defect(entry.value, Verify::kBounds, RecordKey(records, *id)).empty();
}

}  // namespace

Result<bool> UncheckedKeyspaces::have(const Trees& trees, uint32_t tree, const TreeEntry& entry) {
  if (entry.key.size() < sizeof(uint32_t)) return false;
  const uint32_t prefix = big_endian_32(entry.key);
  const auto fits = [&](const Keyspaces& keyspaces) {
    const auto found = keyspaces.find(prefix);
    if (found == keyspaces.end() || found->second.tree != tree) return false;
    return !found->second.records || is_plain_record(entry, {tree, prefix});
  };
  {
    MutexLock lock(mutex_);
    if (fits(keyspaces_)) return true;
  }
  GM_ASSIGN(Keyspaces keyspaces, read(trees));
  const bool found = fits(keyspaces);
  MutexLock lock(mutex_);
  keyspaces_ = std::move(keyspaces);
  return found;
}

Result<UncheckedKeyspaces::Keyspaces> UncheckedKeyspaces::read(const Trees& trees) {
  Keyspaces keyspaces;
  AscendingCursor cursor(std::shared_ptr<const Trees>(std::shared_ptr<void>(), &trees),
                         trees.catalog());
  cursor.set_range(std::string(1, kCollectionKey), std::string(1, kReleasedKey + 1));
  while (true) {
    GM_ASSIGN(const std::optional<TreeEntry> found, cursor.next());
    if (!found) return keyspaces;
    const std::string_view key = found->key;
    if (key[0] == kReleasedKey && key.size() == kPrefixKeyBytes && found->value.size() >= 4) {
      keyspaces[big_endian_32(key.substr(1))] = {big_endian_32(found->value), false};
      continue;
    }
    const size_t end = key.find('\0');
    if (key[0] != kCollectionKey || end == std::string_view::npos) continue;
    const engine::Namespace ns{std::string(key.substr(1, end - 1)),
                               std::string(key.substr(end + 1))};
    const Result<std::shared_ptr<const CollectionMetadata>> metadata =
        CollectionMetadata::decode(ns, found->value);
    if (!metadata) continue;
    keyspaces[(*metadata)->records.prefix] = {(*metadata)->records.tree, true};
    for (const IndexMetadata& index : (*metadata)->indexes) {
      if (!index.checksums) keyspaces[index.keyspace.prefix] = {index.keyspace.tree, false};
    }
  }
}

}  // namespace gridmount::local
