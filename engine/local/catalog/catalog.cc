#include "engine/local/catalog/catalog.h"

#include <algorithm>

#include "engine/bson/builder.h"
#include "engine/local/format/catalog_keys.h"
#include "engine/local/storage/ascending_cursor.h"
#include "engine/system/random.h"

namespace gridmount::local {
namespace {

constexpr size_t kRecentMax = 8;

tl::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorCode::kStoreDamaged, "the catalog's " + std::string(what) +
                                            " is damaged; restore the store from a backup");
}

Result<std::string> random_uuid() {
  GM_ASSIGN(const system::RandomId id, system::random_id());
  std::string uuid(id.begin(), id.end());
  set_uuid_version(uuid, 4);
  return uuid;
}

}  // namespace

std::shared_ptr<const CollectionMetadata> CatalogCache::find(const std::string& key,
                                                             std::string_view bytes) const {
  ReaderLock lock(mutex_);
  const auto at = entries_.find(key);
  return at != entries_.end() && at->second.bytes == bytes ? at->second.metadata : nullptr;
}

void CatalogCache::put(const std::string& key, std::string_view bytes,
                       std::shared_ptr<const CollectionMetadata> metadata) {
  WriterLock lock(mutex_);
  if (entries_.size() >= kEntriesMax) entries_.clear();
  entries_[key] = {std::string(bytes), std::move(metadata)};
}

Catalog::Catalog(std::shared_ptr<Trees> trees, CatalogCache& cache)
    : trees_(std::move(trees)), cache_(cache) {}

Result<std::shared_ptr<const CollectionMetadata>> Catalog::find(const engine::Namespace& ns) {
  for (const auto& metadata : recent_) {
    if (metadata->ns == ns) return metadata;
  }
  const std::string key = collection_key(ns);
  GM_ASSIGN(const std::optional<std::string_view> bytes, trees_->get(trees_->catalog(), key));
  if (!bytes) {
    GM_TRY(trees_->prove_absent(trees_->catalog(), key));
    return std::shared_ptr<const CollectionMetadata>();
  }
  std::shared_ptr<const CollectionMetadata> metadata = cache_.find(key, *bytes);
  if (!metadata) {
    GM_ASSIGN(metadata, CollectionMetadata::decode(ns, *bytes));
    for (const IndexMetadata& index : metadata->indexes) {
      if (index.keyspace.tree >= trees_->tree_count()) return damaged("entry of " + ns.full());
    }
    if (metadata->records.tree >= trees_->tree_count()) return damaged("entry of " + ns.full());
    cache_.put(key, *bytes, metadata);
  }
  if (recent_.size() == kRecentMax) recent_.erase(recent_.begin());
  recent_.push_back(metadata);
  return metadata;
}

Status Catalog::walk(
    const std::string& low, const std::string& high,
    const std::function<bool(std::string_view key, std::string_view value)>& visit) const {
  AscendingCursor cursor(trees_, trees_->catalog());
  cursor.set_range(low, high);
  while (true) {
    GM_ASSIGN(const std::optional<TreeEntry> entry, cursor.next());
    if (!entry || !visit(entry->key, entry->value)) return {};
  }
}

Result<std::vector<std::string>> Catalog::databases() const {
  std::vector<std::string> names;
  std::string from(1, kCollectionKey);
  const std::string end(1, kCollectionKey + 1);
  // Jumps from database to database instead of visiting each collection.
  while (true) {
    std::optional<std::string> name;
    GM_TRY(walk(from, end, [&](std::string_view key, std::string_view) {
      name = std::string(key.substr(1, key.find('\0') - 1));
      return false;
    }));
    if (!name) return names;
    names.push_back(*name);
    from = std::string(1, kCollectionKey) + *name + '\x01';
  }
}

Result<std::vector<engine::Namespace>> Catalog::collections(const std::string& database) const {
  std::vector<engine::Namespace> names;
  const std::string low = collection_key({database, ""});
  std::string high = low;
  high.back() = '\x01';
  GM_TRY(walk(low, high, [&](std::string_view key, std::string_view) {
    names.push_back({database, std::string(key.substr(low.size()))});
    return true;
  }));
  return names;
}

Result<std::vector<engine::Namespace>> Catalog::expiring_collections() const {
  std::vector<engine::Namespace> names;
  GM_TRY(walk(std::string(1, kExpiringKey), std::string(1, kExpiringKey + 1),
              [&](std::string_view key, std::string_view) {
                key.remove_prefix(1);
                const size_t end = std::min(key.find('\0'), key.size());
                names.push_back({std::string(key.substr(0, end)),
                                 std::string(key.substr(std::min(end + 1, key.size())))});
                return true;
              }));
  return names;
}

Status Catalog::record_expiring(const engine::Namespace& ns, bool expires) {
  const std::string key = collection_key(ns, kExpiringKey);
  GM_ASSIGN(const std::optional<std::string_view> recorded, trees_->get(trees_->catalog(), key));
  if (recorded.has_value() == expires) return {};
  if (!expires) return trees_->remove(trees_->catalog(), key);
  GM_TRY(trees_->put(trees_->catalog(), key, ""));
  return {};
}

Result<Counts> Catalog::counts(const CollectionMetadata& metadata) const {
  const auto changed = counts_.find(metadata.records.prefix);
  if (changed != counts_.end()) return changed->second;
  const std::string key = prefix_key(kCountsKey, metadata.records.prefix);
  GM_ASSIGN(const std::optional<std::string_view> bytes, trees_->get(trees_->catalog(), key));
  if (!bytes) {
    GM_TRY(trees_->prove_absent(trees_->catalog(), key));
    return Counts();
  }
  if (!is_sound_value(key, *bytes, kCountsBytes)) return damaged("counts of " + metadata.ns.full());
  Counts counts;
  counts.documents = static_cast<int64_t>(big_endian_64(*bytes));
  counts.document_bytes = static_cast<int64_t>(big_endian_64(bytes->substr(8)));
  counts.next_record = big_endian_64(bytes->substr(16));
  return counts;
}

Result<Counts*> Catalog::counts_for_change(const CollectionMetadata& metadata) {
  GM_ASSIGN(const Counts current, counts(metadata));
  return &counts_.try_emplace(metadata.records.prefix, current).first->second;
}

void Catalog::replace_counts(const CollectionMetadata& metadata, const Counts& counts) {
  counts_[metadata.records.prefix] = counts;
}

Status Catalog::put_value(const std::string& key, std::string value) {
  if (trees_->has_checksums()) append_entry_checksum(value, kCatalogTree, key);
  return trees_->put(trees_->catalog(), key, value);
}

Status Catalog::write_counts() {
  for (const auto& [prefix, counts] : counts_) {
    std::string value;
    append_big_endian_64(value, static_cast<uint64_t>(counts.documents));
    append_big_endian_64(value, static_cast<uint64_t>(counts.document_bytes));
    append_big_endian_64(value, counts.next_record);
    GM_TRY(put_value(prefix_key(kCountsKey, prefix), std::move(value)));
  }
  counts_.clear();
  return {};
}

Result<std::shared_ptr<const CollectionMetadata>> Catalog::create(const engine::Namespace& ns,
                                                                  bson::View options) {
  GM_TRY(trees_->writable_now());
  CollectionMetadata metadata;
  metadata.ns = ns;
  metadata.options = bson::Document(options);
  GM_ASSIGN(metadata.uuid, random_uuid());
  GM_ASSIGN(metadata.records, allocate_keyspace());
  IndexMetadata by_id;
  bson::Builder keys;
  keys.append("_id", int32_t{1});
  by_id.definition.name = kIdIndexName;
  by_id.definition.keys = std::move(keys).finish();
  by_id.definition.unique = true;
  GM_ASSIGN(const engine::CollectionOptions settings,
            engine::CollectionOptions::parse(ns, options));
  by_id.definition.collation = settings.collation.value_or(bson::Document());
  GM_ASSIGN(by_id.rules, index_key_spec(by_id.definition));
  by_id.library_version = by_id.rules.library_version();
  by_id.checksums = trees_->has_checksums();
  GM_ASSIGN(by_id.keyspace, allocate_keyspace());
  metadata.indexes.push_back(std::move(by_id));
  return put(std::move(metadata));
}

// Programs that know only older versions would read sort keys as strings, and would report a text
// or wildcard index as damage.
Status Catalog::check_format(const CollectionMetadata& metadata) const {
  const bool has_collation =
      metadata.settings.collation ||
      std::any_of(metadata.indexes.begin(), metadata.indexes.end(), [](const IndexMetadata& index) {
        return index.definition.own_collation() != nullptr;
      });
  const auto too_old = [&](const char* what) {
    return fail(ErrorCode::kIllegalOperation, metadata.ns.full() +
                                                  ": the format of this store is older than " +
                                                  what + "; run 'gridstore upgrade'");
  };
  if (has_collation && !trees_->has_collations()) {
    return too_old("collations of collections, views and indexes");
  }
  const bool has_new_kind =
      std::any_of(metadata.indexes.begin(), metadata.indexes.end(), [](const IndexMetadata& index) {
        return index.rules.text != nullptr || index.rules.wildcard != nullptr;
      });
  if (has_new_kind && !trees_->has_text_and_wildcard_indexes()) {
    return too_old("text and wildcard indexes");
  }
  return {};
}

Result<std::shared_ptr<const CollectionMetadata>> Catalog::put(CollectionMetadata metadata) {
  recent_.clear();
  GM_TRY(metadata.derive());
  GM_TRY(check_format(metadata));
  GM_ASSIGN(const std::string bytes, metadata.encode());
  GM_TRY(trees_->put(trees_->catalog(), collection_key(metadata.ns), bytes));
  GM_TRY(record_expiring(
      metadata.ns,
      std::any_of(metadata.indexes.begin(), metadata.indexes.end(), [](const IndexMetadata& index) {
        return index.definition.expire_after_seconds.has_value();
      })));
  return std::make_shared<const CollectionMetadata>(std::move(metadata));
}

Status Catalog::erase(const CollectionMetadata& metadata) {
  recent_.clear();
  GM_TRY(trees_->remove(trees_->catalog(), collection_key(metadata.ns)));
  GM_TRY(record_expiring(metadata.ns, false));
  const std::string counts_key = prefix_key(kCountsKey, metadata.records.prefix);
  counts_.erase(metadata.records.prefix);
  GM_ASSIGN(const std::optional<std::string_view> stored,
            trees_->get(trees_->catalog(), counts_key));
  if (stored) GM_TRY(trees_->remove(trees_->catalog(), counts_key));
  GM_TRY(release_keyspace(metadata.records));
  for (const IndexMetadata& index : metadata.indexes) GM_TRY(release_keyspace(index.keyspace));
  return {};
}

Status Catalog::rename(const CollectionMetadata& metadata, const engine::Namespace& to) {
  CollectionMetadata renamed = metadata;
  renamed.ns = to;
  // As on servers, a collection that moves to another database gets a new UUID.
  if (to.database != metadata.ns.database) {
    GM_ASSIGN(renamed.uuid, random_uuid());
  }
  GM_TRY(put(std::move(renamed)));
  GM_TRY(record_expiring(metadata.ns, false));
  return trees_->remove(trees_->catalog(), collection_key(metadata.ns));
}

Result<Catalog::Allocation> Catalog::read_allocation() const {
  Allocation allocation;
  allocation.keyspaces.resize(trees_->tree_count());
  const std::string key(1, kAllocationKey);
  GM_ASSIGN(const std::optional<std::string_view> bytes, trees_->get(trees_->catalog(), key));
  if (!bytes) {
    GM_TRY(trees_->prove_absent(trees_->catalog(), key));
    return allocation;
  }
  if (!is_sound_value(key, *bytes, allocation_bytes(trees_->tree_count()))) {
    return damaged("table of keyspaces");
  }
  allocation.next_prefix = big_endian_32(*bytes);
  for (size_t i = 0; i < allocation.keyspaces.size(); ++i) {
    allocation.keyspaces[i] = big_endian_32(bytes->substr(4 * (1 + i)));
  }
  return allocation;
}

Status Catalog::write_allocation(const Allocation& allocation) {
  std::string value;
  append_big_endian_32(value, allocation.next_prefix);
  for (const uint32_t keyspaces : allocation.keyspaces) append_big_endian_32(value, keyspaces);
  return put_value(std::string(1, kAllocationKey), std::move(value));
}

Result<Keyspace> Catalog::allocate_keyspace() {
  GM_ASSIGN(Allocation allocation, read_allocation());
  if (allocation.next_prefix == UINT32_MAX) {
    return fail(ErrorCode::kOperationFailed,
                "the store has had 4294967294 collections and indexes, the most its format can "
                "number; copy its contents to a new store");
  }
  const auto least = std::min_element(allocation.keyspaces.begin(), allocation.keyspaces.end());
  const Keyspace keyspace{static_cast<uint32_t>(least - allocation.keyspaces.begin()),
                          allocation.next_prefix};
  ++allocation.next_prefix;
  ++*least;
  GM_TRY(write_allocation(allocation));
  return keyspace;
}

Status Catalog::record_released(const Keyspace& keyspace) {
  std::string tree;
  append_big_endian_32(tree, keyspace.tree);
  return put_value(prefix_key(kReleasedKey, keyspace.prefix), std::move(tree));
}

Result<Keyspace> Catalog::allocate_unfinished_keyspace() {
  GM_ASSIGN(const Keyspace keyspace, allocate_keyspace());
  GM_TRY(record_released(keyspace));
  return keyspace;
}

Status Catalog::finish_keyspace(const Keyspace& keyspace) {
  return trees_->remove(trees_->catalog(), prefix_key(kReleasedKey, keyspace.prefix));
}

Status Catalog::release_keyspace(const Keyspace& keyspace) {
  released_ = true;
  return record_released(keyspace);
}

Result<std::vector<Keyspace>> Catalog::released_keyspaces() const {
  std::vector<Keyspace> keyspaces;
  bool sound = true;
  GM_TRY(walk(std::string(1, kReleasedKey), std::string(1, kReleasedKey + 1),
              [&](std::string_view key, std::string_view value) {
                sound = key.size() == kPrefixKeyBytes &&
                        is_sound_value(key, value, kReleasedBytes) &&
                        big_endian_32(value) < trees_->tree_count();
                if (sound)
                  keyspaces.push_back({big_endian_32(value), big_endian_32(key.substr(1))});
                return sound;
              }));
  if (!sound) return damaged("list of released keyspaces");
  return keyspaces;
}

Result<bool> Catalog::is_released(const Keyspace& keyspace) const {
  GM_ASSIGN(const std::optional<std::string_view> value,
            trees_->get(trees_->catalog(), prefix_key(kReleasedKey, keyspace.prefix)));
  return value.has_value();
}

Status Catalog::remove_keyspace(const Keyspace& keyspace) {
  GM_TRY(trees_->remove(trees_->catalog(), prefix_key(kReleasedKey, keyspace.prefix)));
  GM_ASSIGN(Allocation allocation, read_allocation());
  if (allocation.keyspaces[keyspace.tree] == 0) return damaged("table of keyspaces");
  --allocation.keyspaces[keyspace.tree];
  return write_allocation(allocation);
}

Result<uint32_t> Catalog::keyspaces_in_tree(uint32_t tree) const {
  GM_ASSIGN(const Allocation allocation, read_allocation());
  return allocation.keyspaces[tree];
}

Result<uint32_t> Catalog::next_prefix() const {
  GM_ASSIGN(const Allocation allocation, read_allocation());
  return allocation.next_prefix;
}

Status Catalog::replace_allocation(uint32_t next_prefix, std::vector<uint32_t> keyspaces) {
  return write_allocation({next_prefix, std::move(keyspaces)});
}

}  // namespace gridmount::local
