// Filenames of a bucket as paths: which file a path is, what is below it, and the children of a
// folder in the order of the filename index.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridfs/bucket.h"

namespace gridmount::gridfs {

class Names {
 public:
  explicit Names(const Bucket& bucket) : bucket_(bucket) {}

  // The newest revision: by uploadDate, then by _id. Valid as long as views of the snapshot are.
  Result<std::optional<bson::View>> newest(engine::Snapshot& snapshot,
                                           std::string_view filename) const;
  Result<std::vector<bson::Value>> revisions(engine::Snapshot& snapshot,
                                             std::string_view filename) const;
  // Some file below the folder, which makes it one.
  Result<std::optional<bson::View>> any_below(engine::Snapshot& snapshot,
                                              std::string_view folder) const;
  // newest() and any_below() of one path by one look at the index, unless there are names like
  // "a.txt" between "a" and "a/b", or many revisions.
  struct AtPath {
    std::optional<bson::View> file;
    std::optional<bson::View> below;
  };
  Result<AtPath> at(engine::Snapshot& snapshot, std::string_view path) const;

 private:
  const Bucket& bucket_;
};

// Whether the document has a path: its filename is a string.
bool has_filename(bson::View document);

// The place of a child among those of its folder: names order files as the filename index does, and
// folders where the names below them stand in it. So a child keeps its place whether it is implied
// or explicit.
inline std::string folder_key(std::string_view component) {
  return std::string(component) + "/";
}

// The children of a folder by the filename index, each once and by their keys: a seek behind each
// implied folder, a step for each file. Belongs to one snapshot and one thread.
class ChildScan {
 public:
  struct Child {
    std::string component;
    bool is_folder = false;  // implied by a name below it
    // The newest revision; of a folder, a file below it. Valid as long as the snapshot.
    bson::View document;
    // Of a file: names below it imply a folder of the same name. Explicit ones are not looked at.
    bool shadowed = false;

    std::string key() const { return is_folder ? folder_key(component) : component; }
  };

  // Begins at the filename `from`, or behind it.
  ChildScan(const Bucket& bucket, engine::Snapshot& snapshot, std::string folder, std::string from,
            bool inclusive);

  Result<std::optional<Child>> next();

 private:
  // The next document whose filename is a string, or nothing at the end.
  Result<std::optional<bson::View>> read();
  Result<bool> is_shadowed(const std::string& path, const std::optional<bson::View>& following);

  const Bucket& bucket_;
  engine::Snapshot& snapshot_;
  const std::string folder_;
  const size_t prefix_bytes_;
  std::string from_;
  bool inclusive_;
  std::unique_ptr<engine::Cursor> cursor_;
  std::optional<bson::View> ahead_;  // read, not yet given
};

}  // namespace gridmount::gridfs
