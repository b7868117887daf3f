// A DirectoryStream over the documents of a bucket.
//
// Explicit directories are merged with the children from the filename index, in the order of their
// keys (path_index.h). In the root, the files without a string filename follow. Each batch is read
// from its own snapshot, which is released before the caller sees an entry. A position among the
// keys is the last key consumed, not a number of entries, so changes do not shift it. A position
// among the files without a string filename counts files, so changes can shift it.
//
// Not thread-safe.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "gridfs/content/file.h"
#include "gridfs/namespace/batched_listing.h"
#include "gridfs/namespace/path_index.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::gridfs {

// Returns 62 bits of the FNV-1a hash of `key`, the lowest of them set, so never 0. The hash
// distinguishes an entry of a listing from the others.
uint64_t hash_of(std::string_view key);

// A position in a DirectoryListing.
struct DirectoryPosition {
  enum class Pass { kNames, kUnnamed };

  Pass pass = Pass::kNames;
  std::optional<std::string> behind = {};  // kNames: after this key, or at the beginning if unset
  size_t query = 0;                        // kUnnamed: the number of the query in progress
  // kUnnamed: the number of results of the query that the listing has read, including those that it
  // leaves out. The first query is sorted by uploadDate. For this query, `date` is the uploadDate
  // of the last result that was read, and `skip` counts only the results with this date.
  int64_t skip = 0;
  bson::Date date{std::numeric_limits<int64_t>::min()};

  auto order() const { return std::tie(pass, behind, query, date.milliseconds, skip); }
  friend bool operator==(const DirectoryPosition& a, const DirectoryPosition& b) {
    return a.order() == b.order();
  }
  friend bool operator<(const DirectoryPosition& a, const DirectoryPosition& b) {
    return a.order() < b.order();
  }
};

class DirectoryListing final : public BatchedListing<DirectoryPosition> {
 public:
  // `path_index`, `files`, `options` and everything that `complete` refers to must outlive the
  // listing. `complete` adds the attributes that a node does not get from its document.
  DirectoryListing(const PathIndex& path_index, FileTable& files, const NamespaceOptions& options,
                   std::string directory, std::function<void(Node&)> complete);

 private:
  using Position = DirectoryPosition;
  using Pass = DirectoryPosition::Pass;

  Status read_batch() override;
  void begin_batches() override;
  Status read_names(engine::Snapshot& snapshot);
  Status read_unnamed(engine::Snapshot& snapshot);
  // Adds the entry to the batch. `key` distinguishes it from all others of the directory.
  // `make_node()` returns its node, without the attributes that `complete` adds.
  template <typename MakeNode>
  void list(std::string_view key, std::string name, const MakeNode& make_node, Position after);

  const PathIndex& path_index_;
  const Bucket& bucket_;
  FileTable& files_;
  const NamespaceOptions& options_;
  const std::string directory_;
  const std::function<void(Node&)> complete_;

  size_t batch_entries_;  // number of entries to read
};

}  // namespace gridmount::gridfs
