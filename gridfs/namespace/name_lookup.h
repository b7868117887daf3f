// Finds everything that has one path with one command, instead of one command for each collection.
// For a store over a network, where each command is a round trip.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

class NameLookup {
 public:
  explicit NameLookup(const Bucket& bucket);

  // False if one command for each collection is as good, or if the server has refused the command
  // once.
  bool is_usable() const { return is_usable_; }

  struct AtPath {
    std::optional<bson::Document> directory;  // the directory's own document
    // The files with that filename, newest uploadDate first, at most kFilesRead.
    std::vector<bson::Document> files;
    bool has_all_files = false;
    std::optional<bson::Document> below;  // some file with a filename below the path
    // The rest only outside of a transaction, and if it was asked for.
    //
    // The document of the directory that the path is in, as it was before all else was looked for.
    std::optional<bson::Document> parent;
    // The components of the names in that directory, without additional names of files.
    std::unordered_set<std::string> siblings;
    bool has_all_siblings = false;
  };
  struct Further {
    bool parent = false;
    int64_t siblings_max = 0;  // 0: they are not asked for
  };
  // `path` can be a directory's and is not the root's. The results may include files whose filename
  // is an array. Returns nothing if the server refuses the command, or, in a transaction, if the
  // parent directory of the path has no document. If the server has refused the command in a
  // transaction, the transaction has ended. The caller then begins another one, for which
  // is_usable() is false.
  Result<std::optional<AtPath>> find(engine::Snapshot& snapshot, std::string_view path,
                                     const Further& further) const;

 private:
  static constexpr int64_t kFilesRead = 4;

  const Bucket& bucket_;
  mutable std::atomic<bool> is_usable_;
};

}  // namespace gridmount::gridfs
