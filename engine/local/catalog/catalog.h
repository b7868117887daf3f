// The catalog as one Snapshot or Transaction sees it: collections, their keyspaces and counts.
//
// A look-up reads the catalog tree in the read view's own snapshot or transaction, or returns an
// entry that was read there before. So changes by other threads do not affect a look-up.
// CatalogCache only avoids parsing an entry again. A transaction's Catalog keeps the changed counts
// in memory, and writes them once at the commit.
//
// Thread-safety: CatalogCache is thread-safe. Catalog is not: it must be used by the thread that
// uses its Snapshot or Transaction.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/local/format/collection_metadata.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"
#include "engine/store.h"

namespace gridmount::local {

// A cache of parsed entries of the catalog, one per store. Each entry is kept with the bytes from
// which it was parsed. find() returns an entry only for the same bytes, so an entry never becomes
// wrong.
class CatalogCache {
 public:
  // Returns the parsed entry, or null if the cache has none for these bytes.
  std::shared_ptr<const CollectionMetadata> find(const std::string& key,
                                                 std::string_view bytes) const GM_EXCLUDES(mutex_);
  // Adds the parsed entry for these bytes, or replaces the entry with this key.
  void put(const std::string& key, std::string_view bytes,
           std::shared_ptr<const CollectionMetadata> metadata) GM_EXCLUDES(mutex_);

 private:
  static constexpr size_t kEntriesMax = 16'384;  // at this size, put() first clears the cache
  struct Cached {
    std::string bytes;
    std::shared_ptr<const CollectionMetadata> metadata;
  };
  mutable SharedMutex mutex_;
  std::unordered_map<std::string, Cached> entries_ GM_GUARDED_BY(mutex_);
};

struct Counts {
  int64_t documents = 0;
  int64_t document_bytes = 0;
  RecordId next_record = 1;  // the id that the next new record gets
};

class Catalog {
 public:
  Catalog(std::shared_ptr<Trees> trees, CatalogCache& cache);

  // Returns null if the collection does not exist. Fails with StoreDamaged if the collection's
  // entry is damaged, or if a damaged page may hide it. The other functions fail in the same way if
  // an entry that they read is damaged.
  Result<std::shared_ptr<const CollectionMetadata>> find(const engine::Namespace& ns);
  // Returns the databases that have collections, sorted by the bytes of their names.
  Result<std::vector<std::string>> databases() const;
  // Returns the collections of the database, sorted by name.
  Result<std::vector<engine::Namespace>> collections(const std::string& database) const;
  // Returns the collections that have a TTL index, of all databases.
  Result<std::vector<engine::Namespace>> expiring_collections() const;
  // Returns the collection's counts, including changes that are not yet written. If the catalog has
  // no counts for the collection, returns Counts().
  Result<Counts> counts(const CollectionMetadata& metadata) const;

  // Creates a collection, or a view, with an _id index. The name must be free and valid. Fails with
  // IllegalOperation in a snapshot, and as CollectionOptions::parse(), index_key_spec(),
  // random_id(), put() and allocate_keyspace() do.
  Result<std::shared_ptr<const CollectionMetadata>> create(const engine::Namespace& ns,
                                                           bson::View options);
  // Adds or replaces the entry of metadata.ns, and returns it. Fails with IllegalOperation for a
  // collation, a text index or a wildcard index that the store's format does not have, and as
  // derive(), encode(), Trees::put() and Trees::remove() do.
  Result<std::shared_ptr<const CollectionMetadata>> put(CollectionMetadata metadata);
  // Removes the collection's entries from the catalog, and releases its keyspaces to the drop
  // cleanup. Fails as Trees::remove() and Trees::put() do. The functions below that change
  // keyspaces fail in the same way.
  Status erase(const CollectionMetadata& metadata);
  // Gives the collection the name `to`, which must be free and valid. If `to` is in another
  // database, the collection gets a new UUID. Fails as put() and random_id() do.
  Status rename(const CollectionMetadata& metadata, const engine::Namespace& to);

  // Forgets the entries that were looked up last. Must be called when the read view shows another
  // snapshot.
  void drop_recent() { recent_.clear(); }

  // Returns an unused keyspace. Fails with OperationFailed if the store has no unused prefix left.
  Result<Keyspace> allocate_keyspace();
  // Like allocate_keyspace(), but the keyspace counts as released until finish_keyspace() is
  // called. If finish_keyspace() is never called, the drop cleanup removes the keyspace's entries.
  Result<Keyspace> allocate_unfinished_keyspace();
  Status finish_keyspace(const Keyspace& keyspace);
  // Records that the keyspace is no longer used. The drop cleanup later removes its entries.
  Status release_keyspace(const Keyspace& keyspace);
  Result<std::vector<Keyspace>> released_keyspaces() const;
  Result<bool> is_released(const Keyspace& keyspace) const;
  // Only the drop cleanup may call this, after it has removed all entries of the keyspace. Removes
  // the keyspace from the list of released keyspaces, and decrements the number of keyspaces in its
  // tree.
  Status remove_keyspace(const Keyspace& keyspace);
  // Returns how many keyspaces are in the tree, including released keyspaces that are not yet
  // removed. `tree` must be less than the number of trees.
  Result<uint32_t> keyspaces_in_tree(uint32_t tree) const;
  // Returns a number greater than every prefix that is or was in use.
  Result<uint32_t> next_prefix() const;
  // Replaces the next prefix, and the number of keyspaces of each tree, in the order of the trees.
  // Only a repair may call this.
  Status replace_allocation(uint32_t next_prefix, std::vector<uint32_t> keyspaces);
  // Returns whether keyspaces have been released through this catalog.
  bool released() const { return released_; }

  // Returns the collection's counts, which the caller may change. The pointer is valid until
  // erase() of the collection or write_counts().
  Result<Counts*> counts_for_change(const CollectionMetadata& metadata);
  // Replaces the counts without reading the old ones. Only a repair may call this.
  void replace_counts(const CollectionMetadata& metadata, const Counts& counts);
  // Writes the changed counts. Must be called before every commit.
  Status write_counts();

 private:
  struct Allocation {
    uint32_t next_prefix = 1;
    std::vector<uint32_t> keyspaces;  // per tree
  };
  // Adds the collection to the list of collections with a TTL index, or removes it from the list.
  Status record_expiring(const engine::Namespace& ns, bool expires);
  Status record_released(const Keyspace& keyspace);
  Result<Allocation> read_allocation() const;
  // Fails with IllegalOperation for a collation, a text index or a wildcard index that the store's
  // format does not have.
  Status check_format(const CollectionMetadata& metadata) const;
  Status write_allocation(const Allocation& allocation);
  // Puts the value with its checksum, if the store's entries have checksums.
  Status put_value(const std::string& key, std::string value);
  Status walk(const std::string& low, const std::string& high,
              const std::function<bool(std::string_view key, std::string_view value)>& visit) const;

  std::shared_ptr<Trees> trees_;
  CatalogCache& cache_;
  // The entries that were looked up last. In a snapshot they stay right until drop_recent() is
  // called. A transaction forgets them at each change of the catalog.
  std::vector<std::shared_ptr<const CollectionMetadata>> recent_;
  std::unordered_map<uint32_t, Counts> counts_;  // changed counts, by the prefix of the records
  bool released_ = false;
};

}  // namespace gridmount::local
