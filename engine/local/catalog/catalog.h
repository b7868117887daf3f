// The catalog as one Snapshot or Transaction sees it: collections, their keyspaces and counts.
//
// Every lookup reads the catalog tree, so it is right for this read view whatever other threads do.
// CatalogCache saves only the parsing. Changed counts are kept here while a transaction runs, and
// are written once at its commit.
//
// Thread-safety: a CatalogCache is thread-safe. A Catalog is not. It belongs to its Snapshot or
// Transaction.
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

// Parsed entries, each with the bytes it was parsed from. An entry is used only if its bytes are
// equal to those in the catalog, so nothing needs to be invalidated. Thread-safe; one per store.
class CatalogCache {
 public:
  std::shared_ptr<const CollectionMetadata> find(const std::string& key,
                                                 std::string_view bytes) const GM_EXCLUDES(mutex_);
  void put(const std::string& key, std::string_view bytes,
           std::shared_ptr<const CollectionMetadata> metadata) GM_EXCLUDES(mutex_);

 private:
  static constexpr size_t kEntriesMax = 16'384;  // at this size the cache is cleared
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
  RecordId next_record = 1;
};

class Catalog {
 public:
  Catalog(std::shared_ptr<Trees> trees, CatalogCache& cache);

  // Returns null if there is no such collection.
  Result<std::shared_ptr<const CollectionMetadata>> find(const engine::Namespace& ns);
  Result<std::vector<std::string>> databases() const;
  // Sorted by name.
  Result<std::vector<engine::Namespace>> collections(const std::string& database) const;
  // Returns the collections of all databases that have a TTL index.
  Result<std::vector<engine::Namespace>> expiring_collections() const;
  Result<Counts> counts(const CollectionMetadata& metadata) const;

  // Creates a collection with its _id index. The name must be free and valid.
  Result<std::shared_ptr<const CollectionMetadata>> create(const engine::Namespace& ns,
                                                           bson::View options);
  // Replaces (or adds) the entry of metadata.ns.
  Result<std::shared_ptr<const CollectionMetadata>> put(CollectionMetadata metadata);
  // Removes the collection. Its keyspaces are released for the drop cleanup.
  Status erase(const CollectionMetadata& metadata);
  Status rename(const CollectionMetadata& metadata, const engine::Namespace& to);

  // Drops the recently used entries. Must be called when the read view has changed.
  void drop_recent() { recent_.clear(); }

  Result<Keyspace> allocate_keyspace();
  // Allocates a keyspace that counts as released until finish_keyspace(). If finish_keyspace() is
  // never called, the drop cleanup removes the keyspace's entries.
  Result<Keyspace> allocate_unfinished_keyspace();
  Status finish_keyspace(const Keyspace& keyspace);
  // The drop cleanup removes the keyspace's entries later.
  Status release_keyspace(const Keyspace& keyspace);
  Result<std::vector<Keyspace>> released_keyspaces() const;
  // Called after the cleanup. Removes the keyspace from the list of released ones, and counts one
  // keyspace less in its tree.
  Status remove_keyspace(const Keyspace& keyspace);
  // Returns how many keyspaces share the tree.
  Result<uint32_t> keyspaces_in_tree(uint32_t tree) const;
  // Returns a number above every prefix that is or was in use.
  Result<uint32_t> next_prefix() const;
  // Replaces the table of keyspaces. Only a repair calls this.
  Status replace_allocation(uint32_t next_prefix, std::vector<uint32_t> keyspaces);
  // Returns whether keyspaces have been released through this catalog.
  bool released() const { return released_; }

  // Returns a collection's counts, which the caller may change. The pointer is valid until the
  // collection is erased, or until write_counts().
  Result<Counts*> counts_for_change(const CollectionMetadata& metadata);
  // Replaces the counts without reading the old ones. Only a repair calls this.
  void replace_counts(const CollectionMetadata& metadata, const Counts& counts);
  // Writes the changed counts. Must be called before every commit.
  Status write_counts();

 private:
  struct Allocation {
    uint32_t next_prefix = 1;
    std::vector<uint32_t> keyspaces;  // per tree
  };
  // Adds the collection to the list of expiring collections, or takes it off.
  Status record_expiring(const engine::Namespace& ns, bool expires);
  Status record_released(const Keyspace& keyspace);
  Result<Allocation> read_allocation() const;
  Status write_allocation(const Allocation& allocation);
  // Puts the value with its checksum, if the store's entries have checksums.
  Status put_value(const std::string& key, std::string value);
  Status walk(const std::string& low, const std::string& high,
              const std::function<bool(std::string_view key, std::string_view value)>& visit) const;

  std::shared_ptr<Trees> trees_;
  CatalogCache& cache_;
  // The entries looked up last. In a snapshot they stay valid. A transaction drops them at each
  // change.
  std::vector<std::shared_ptr<const CollectionMetadata>> recent_;
  std::unordered_map<uint32_t, Counts> counts_;  // changed counts, by the prefix of the records
  bool released_ = false;
};

}  // namespace gridmount::local
