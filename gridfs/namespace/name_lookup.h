// Finds the directory and the files of one path, and a file below it, with one command instead of
// one command for each collection. Does not find additional names of files (links.h). This class is
// for a store over a network, where each command costs a round trip.
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
  // `bucket` must outlive this object.
  explicit NameLookup(const Bucket& bucket);

  // Returns false for a store in this process, and after the server has refused the command for the
  // first time.
  bool is_usable() const { return is_usable_; }

  struct AtPath {
    std::optional<bson::Document> directory;  // the directory's own document
    // The files with that filename, newest uploadDate first, at most kFilesRead.
    std::vector<bson::Document> files;
    bool has_all_files = false;
    std::optional<bson::Document> below;  // some file with a filename below the path
    // The remaining fields are set only outside of a transaction, and only if `further` asks for
    // them.
    //
    // The document of the path's parent directory. It was read before everything else.
    std::optional<bson::Document> parent;
    // The components of the names in the parent directory, without additional names of files.
    std::unordered_set<std::string> siblings;
    bool has_all_siblings = false;
  };
  struct Further {
    bool parent = false;
    int64_t siblings_max = 0;  // 0: no siblings are requested
  };
  // `path` must be a path that a directory can have, but not the root's. The results may include
  // files whose filename is an array. Returns nothing if the server refuses the command, or, in a
  // transaction, if the parent directory of the path has no document. If the server has refused the
  // command in a transaction, the transaction has ended. The caller then begins another one, for
  // which is_usable() is false. Fails if the error is transient, or if reading the answer fails.
  Result<std::optional<AtPath>> find(engine::Snapshot& snapshot, std::string_view path,
                                     const Further& further) const;

 private:
  static constexpr int64_t kFilesRead = 4;

  const Bucket& bucket_;
  mutable std::atomic<bool> is_usable_;
};

}  // namespace gridmount::gridfs
