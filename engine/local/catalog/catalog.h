// The catalog as one Snapshot or Transaction sees it: collections, their ranges and counts.
//
// Every lookup goes to the catalog tree, so it is right for this view of the store whatever others
// do; what is saved is the parsing, by CatalogCache. Counts are kept here while a transaction runs
// and written once at its commit.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"
#include "engine/store.h"

namespace gridmount::local {

// Parsed entries by the bytes they were parsed from: an entry found under other bytes than the
// catalog's is not used, so nothing ever needs invalidating. Thread-safe; one per store.
class CatalogCache {
 public:
  std::shared_ptr<const CollectionEntry> find(const std::string& key, std::string_view bytes) const
      GM_EXCLUDES(mutex_);
  void put(const std::string& key, std::string_view bytes,
           std::shared_ptr<const CollectionEntry> entry) GM_EXCLUDES(mutex_);

 private:
  static constexpr size_t kEntriesMax = 16'384;  // then it starts afresh
  struct Cached {
    std::string bytes;
    std::shared_ptr<const CollectionEntry> entry;
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

  // Null if there is no such collection.
  Result<std::shared_ptr<const CollectionEntry>> find(const engine::Namespace& ns);
  Result<std::vector<std::string>> databases() const;
  // In the order of names.
  Result<std::vector<engine::Namespace>> collections(const std::string& database) const;
  // Those with an index that lets documents expire, of all databases.
  Result<std::vector<engine::Namespace>> expiring_collections() const;
  Result<Counts> counts(const CollectionEntry& entry) const;

  // A new collection with its _id index. The name must be free and valid.
  Result<std::shared_ptr<const CollectionEntry>> create(const engine::Namespace& ns,
                                                        bson::View options);
  // Replaces (or adds) the entry of entry.ns.
  Result<std::shared_ptr<const CollectionEntry>> put(CollectionEntry entry);
  // The collection is gone; its ranges wait to be swept.
  Status erase(const CollectionEntry& entry);
  Status rename(const CollectionEntry& entry, const engine::Namespace& to);

  // The view has changed.
  void forget_recent() { recent_.clear(); }

  Result<Range> allocate_range();
  // One that is among the released ones until finish_range(), so that nothing of it is left if that
  // never comes.
  Result<Range> allocate_unfinished_range();
  Status finish_range(const Range& range);
  // Its entries are removed later, by the sweeper.
  Status release_range(const Range& range);
  Result<std::vector<Range>> released_ranges() const;
  // After the sweep: the range's tree has one range less.
  Status forget_range(const Range& range);
  // How many ranges share the tree.
  Result<uint32_t> ranges_in_tree(uint32_t tree) const;
  // Above every prefix that is or was in use.
  Result<uint32_t> next_prefix() const;
  // Of a repair: what is noted of the ranges, made anew.
  Status replace_allocation(uint32_t next_prefix, std::vector<uint32_t> ranges);
  // Ranges have been released through this view.
  bool released() const { return released_; }

  // The counts of a collection, for changing; valid until the collection is erased.
  Result<Counts*> counts_for_change(const CollectionEntry& entry);
  // Of a repair: whatever they have been.
  void replace_counts(const CollectionEntry& entry, const Counts& counts);
  // Writes the changed counts; before every commit.
  Status write_counts();

 private:
  struct Allocation {
    uint32_t next_prefix = 1;
    std::vector<uint32_t> ranges;  // per tree
  };
  // The list of expiring collections follows the entry.
  Status note_expiring(const engine::Namespace& ns, bool expires);
  Status note_released(const Range& range);
  Result<Allocation> read_allocation() const;
  Status write_allocation(const Allocation& allocation);
  // With its checksum, if the store's entries have them.
  Status put_value(const std::string& key, std::string value);
  Status walk(const std::string& low, const std::string& high,
              const std::function<bool(std::string_view key, std::string_view value)>& visit) const;

  std::shared_ptr<Trees> trees_;
  CatalogCache& cache_;
  // The entries looked up last; a snapshot's stay right, a transaction's are dropped at any change.
  std::vector<std::shared_ptr<const CollectionEntry>> recent_;
  std::unordered_map<uint32_t, Counts> counts_;  // changed ones, by the records' prefix
  bool released_ = false;
};

}  // namespace gridmount::local
