// The stats of a collection. Collections share the trees of the store, so their sizes on disk are
// estimates.

#include "engine/local/collection.h"
#include "engine/local/storage/range_cursor.h"

namespace gridmount::local {
namespace {

constexpr size_t kPageEntryBytes = 10;  // LMDB's entry header and its slot in the page

// Returns the mean size of an index's entries, from a sample at its beginning.
Result<double> mean_entry_bytes(ReadView& read_view, const IndexMetadata& index) {
  constexpr int kSampled = 100;
  RangeCursor cursor(read_view.shared_trees(), read_view.trees().tree(index.keyspace));
  cursor.set_range(keyspace_prefix(index.keyspace), keyspace_end(index.keyspace), false);
  double bytes = 0;
  int entries = 0;
  while (entries < kSampled) {
    GM_ASSIGN(const std::optional<TreeEntry> entry, cursor.next());
    if (!entry) break;
    bytes += static_cast<double>(entry->key.size() + entry->value.size() + kPageEntryBytes);
    ++entries;
  }
  return entries == 0 ? 0 : bytes / entries;
}

}  // namespace

Result<engine::CollectionStats> LocalCollection::stats(engine::Snapshot& snapshot) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  engine::CollectionStats stats;
  if (!metadata) return stats;
  GM_ASSIGN(const Counts counts, read_view->catalog().counts(*metadata));
  stats.documents = counts.documents;
  stats.document_bytes = counts.document_bytes;
  stats.storage_bytes =
      counts.document_bytes +
      counts.documents * static_cast<int64_t>(kRecordHeaderBytes + kRecordKeyBytes);
  stats.index_count = static_cast<int64_t>(metadata->indexes.size());
  return stats;
}

Result<std::vector<engine::IndexStats>> LocalCollection::index_stats(engine::Snapshot& snapshot) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, environment_));
  GM_ASSIGN(const SharedMetadata metadata, read_view->catalog().find(ns_));
  std::vector<engine::IndexStats> stats;
  if (!metadata) return stats;
  GM_ASSIGN(const Counts counts, read_view->catalog().counts(*metadata));
  const IndexUsage& usage = read_view->index_usage();
  for (const IndexMetadata& index : metadata->indexes) {
    GM_ASSIGN(const double entry_bytes, mean_entry_bytes(*read_view, index));
    stats.push_back({index.definition,
                     static_cast<int64_t>(entry_bytes * static_cast<double>(counts.documents)),
                     usage.accesses(index.keyspace), usage.since()});
  }
  return stats;
}

}  // namespace gridmount::local
