// Everything that has one path, found with one command instead of one for each collection. For a
// store at the other end of a network, where each command is a round trip.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <optional>
#include <string_view>
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
  };
  // `path` can be a directory's and is not the root's. Files may be among the results whose
  // filename is an array. Returns nothing if this cannot say: in a transaction, if the directory
  // that the path is in has no document, or if the server refuses the command. A transaction is
  // then at its end, and whoever begins it anew finds is_usable() false.
  Result<std::optional<AtPath>> find(engine::Snapshot& snapshot, std::string_view path) const;

 private:
  static constexpr int64_t kFilesRead = 4;

  const Bucket& bucket_;
  mutable std::atomic<bool> is_usable_;
};

}  // namespace gridmount::gridfs
