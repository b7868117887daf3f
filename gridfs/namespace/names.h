// Filenames and links of a bucket as paths: which file a path is, what is below it, and the
// children of a folder in the order of the filename index.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridfs/bucket/bucket.h"
#include "gridfs/namespace/links.h"

namespace gridmount::gridfs {

class Names {
 public:
  // With `at`, files of a later uploadDate are passed over.
  explicit Names(const Bucket& bucket, std::optional<bson::Date> at = {})
      : bucket_(bucket), links_(bucket), at_(at) {}

  const Bucket& bucket() const { return bucket_; }
  Links& links() { return links_; }
  const Links& links() const { return links_; }

  // Whether the document is from the time that is looked at.
  bool is_of_time(bson::View document) const;
  // The same, and it has a path.
  bool is_shown(bson::View document) const;

  // The newest file of that name: by uploadDate, then by _id; of many with one uploadDate the
  // greatest _id among the 64 that the index has last. Valid as long as views of the snapshot are.
  Result<std::optional<bson::View>> newest(engine::Snapshot& snapshot,
                                           std::string_view filename) const;
  // All files of that name.
  Result<std::vector<bson::View>> all(engine::Snapshot& snapshot, std::string_view name) const;
  // Some of them, at most two and those it is a link of: none has an earlier uploadDate than all of
  // these, and none a later one.
  Result<std::vector<bson::View>> first_and_last(engine::Snapshot& snapshot,
                                                 std::string_view name) const;
  // Those with that filename behind the `count` newest, from the newest on.
  Result<std::unique_ptr<engine::Cursor>> behind_newest(engine::Snapshot& snapshot,
                                                        std::string_view filename,
                                                        int64_t count) const;
  // Some file below the folder, which makes it one.
  Result<std::optional<bson::View>> any_below(engine::Snapshot& snapshot,
                                              std::string_view folder) const;
  // newest() and any_below() of one path by one look at the filename index, unless there are names
  // like "a.txt" between "a" and "a/b", or many revisions.
  struct AtPath {
    std::optional<bson::View> file;
    std::optional<bson::View> below;
  };
  Result<AtPath> at(engine::Snapshot& snapshot, std::string_view path) const;

 private:
  // The files of that name that have another filename.
  Result<std::vector<bson::View>> linked(engine::Snapshot& snapshot, std::string_view name) const;
  Result<std::optional<bson::View>> newest_by_filename(engine::Snapshot& snapshot,
                                                       std::string_view filename) const;
  Result<std::optional<bson::View>> any_filename_below(engine::Snapshot& snapshot,
                                                       std::string_view folder) const;
  Result<std::optional<bson::View>> any_link_below(engine::Snapshot& snapshot,
                                                   std::string_view folder) const;
  Result<AtPath> at_by_filename(engine::Snapshot& snapshot, std::string_view path) const;

  const Bucket& bucket_;
  Links links_;
  const std::optional<bson::Date> at_;
};

// By uploadDate, then by _id: the order of revisions, of which the last is Names::newest().
bool is_newer(bson::View a, bson::View b);

// Whether the document has a path: its filename is a string.
bool has_filename(bson::View document);

// The place of a child among those of its folder: names order files as the filename index does, and
// folders where the names below them stand in it. So a child keeps its place whether it is implied
// or explicit.
inline std::string folder_key(std::string_view component) {
  return std::string(component) + "/";
}

// The children of a folder by the filename index, each once and by their keys: a seek behind each
// implied folder, a step for each file, a step and a look-up for each link. Belongs to one snapshot
// and one thread.
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
  ChildScan(const Names& names, engine::Snapshot& snapshot, std::string folder, std::string from,
            bool inclusive);

  Result<std::optional<Child>> next();

 private:
  // A name in the folder or below it, and the file it leads to.
  struct Named {
    std::string name;
    bson::View document;
  };

  // The next name, or nothing at the end; a name comes as often as it leads to files.
  Result<std::optional<Named>> read();
  Result<std::optional<Named>> read_filename();
  Result<std::optional<Named>> read_link();
  // Goes on at `name`.
  void skip_to(std::string name);
  // Goes on behind all of that name.
  void skip_behind(const std::string& name);
  Result<bool> is_shadowed(const std::string& path, const std::optional<Named>& following);

  const Names& names_;
  engine::Snapshot& snapshot_;
  const std::string folder_;
  const size_t prefix_bytes_;
  const std::string end_;  // behind all names below the folder; empty if nothing is
  // Where to begin, and with it or behind it.
  std::string from_;
  bool inclusive_;
  std::unique_ptr<engine::Cursor> cursor_;
  bool filenames_ended_ = false;
  std::optional<LinkScan> links_;
  // Read, not yet given.
  std::optional<Named> filename_;
  std::optional<Named> link_;
  std::optional<Named> ahead_;
};

}  // namespace gridmount::gridfs
