// Filenames and links of a bucket as paths: finds the file to which a path leads, the names below a
// path, and the children of a directory in the order of the filename index.
//
// Thread-safe, except links().start().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridfs/bucket/bucket.h"
#include "gridfs/namespace/links.h"

namespace gridmount::gridfs {

class PathIndex {
 public:
  // With `at`, files with a later uploadDate are ignored. `bucket` must outlive this object.
  explicit PathIndex(const Bucket& bucket, std::optional<bson::Date> at = {})
      : bucket_(bucket), links_(bucket), at_(at) {}

  const Bucket& bucket() const { return bucket_; }
  Links& links() { return links_; }
  const Links& links() const { return links_; }

  // Returns true if the document's uploadDate is not later than `at`.
  bool is_of_time(bson::View document) const;
  // Returns true if is_of_time() holds and the document has a path.
  bool is_shown(bson::View document) const;

  // Returns the newest file of that name: by uploadDate, then by _id. If more than 64 files share
  // the newest uploadDate, compares only the last 64 of these files in the index by _id. The views
  // that PathIndex returns are valid as long as views of the snapshot.
  Result<std::optional<bson::View>> newest(engine::Snapshot& snapshot,
                                           std::string_view filename) const;
  // Returns all files of that name.
  Result<std::vector<bson::View>> all(engine::Snapshot& snapshot, std::string_view name) const;
  // Finds the file at position `number` among the files of that name, oldest first, from 0. Returns
  // all files of the name that have the uploadDate of this file, in any order. Sets `number` to the
  // position that the file has if the result is sorted with is_newer(), oldest first. Counts the
  // files with other dates in the index, without reading their documents. If the index does not
  // suffice, returns all files of the name and leaves `number` as it is. If the name has too few
  // files, returns none.
  Result<std::vector<bson::View>> at_position(engine::Snapshot& snapshot, std::string_view name,
                                              uint64_t& number) const;
  // Returns some files of that name: at most two files with that filename, and all files with that
  // additional name. The result has the earliest and the latest uploadDate of all files of that
  // name. The result may have a file twice.
  Result<std::vector<bson::View>> first_and_last(engine::Snapshot& snapshot,
                                                 std::string_view name) const;
  // Returns the files with that filename, newest first, except the `count` newest. Also returns
  // files that are later than the constructor's `at`.
  Result<std::unique_ptr<engine::Cursor>> behind_newest(engine::Snapshot& snapshot,
                                                        std::string_view filename,
                                                        int64_t count) const;
  // Returns a file below the directory, or nothing if there is no such file. A file below a
  // directory implies the directory.
  Result<std::optional<bson::View>> any_below(engine::Snapshot& snapshot,
                                              std::string_view directory) const;
  // The results of newest() and any_below() for one path. at() needs more than one look-up in the
  // filename index only if the path has four or more revisions, if names such as "a.txt" are
  // between "a" and "a/b", or if the PathIndex was made with a time `at`.
  struct AtPath {
    std::optional<bson::View> file;
    std::optional<bson::View> below;
  };
  Result<AtPath> at(engine::Snapshot& snapshot, std::string_view path) const;
  // Completes `at`, the result for filenames, with the files that have the path, or a name below
  // the path, as an additional name.
  Status add_links(engine::Snapshot& snapshot, std::string_view path, AtPath& at) const;

 private:
  // Returns the files that have that name as an additional name.
  Result<std::vector<bson::View>> linked(engine::Snapshot& snapshot, std::string_view name) const;
  // Returns the filter of the files with that filename, up to `at`.
  bson::Document named(std::string_view filename) const;
  Result<std::optional<bson::View>> newest_by_filename(engine::Snapshot& snapshot,
                                                       std::string_view filename) const;
  Result<std::optional<bson::View>> any_filename_below(engine::Snapshot& snapshot,
                                                       std::string_view directory) const;
  Result<std::optional<bson::View>> any_link_below(engine::Snapshot& snapshot,
                                                   std::string_view directory) const;
  Result<AtPath> at_by_filename(engine::Snapshot& snapshot, std::string_view path) const;

  const Bucket& bucket_;
  Links links_;
  const std::optional<bson::Date> at_;
};

// Returns true if `a` is a newer revision than `b`: by uploadDate, then by _id. PathIndex::newest()
// uses this order.
bool is_newer(bson::View a, bson::View b);

// Returns true if the document has a path, i.e. its filename is a string.
bool has_filename(bson::View document);

// Returns the sort key of a child directory. Children are ordered as the filename index orders the
// names. The key of a file is the file's component. The key of a directory is the directory's
// component and a slash. So a directory has the position of the names below the directory, whether
// the directory is implied or explicit.
inline std::string directory_key(std::string_view component) {
  return std::string(component) + "/";
}

// Scans the children of a directory in the filename index. Returns each child once, in the order of
// their keys. Costs a seek after each implied directory, a step for each file, and a step and a
// look-up for each link. Must be used by the thread that uses the snapshot.
class ChildScan {
 public:
  struct Child {
    std::string component;
    bool is_directory = false;  // implied by a name below it
    // The newest revision of a file, or any file below a directory. Valid as long as views of the
    // snapshot.
    bson::View document;
    // Only for a file: true if names below the file imply a directory with the same name. Explicit
    // directories are not checked.
    bool shadowed = false;

    std::string key() const { return is_directory ? directory_key(component) : component; }
  };

  // Begins at the filename `from` if `inclusive`, else after `from`. `path_index` and `snapshot`
  // must outlive the scan.
  ChildScan(const PathIndex& path_index, engine::Snapshot& snapshot, std::string directory,
            std::string from, bool inclusive);

  // Returns nothing at the end.
  Result<std::optional<Child>> next();

 private:
  // A name below the directory, and the file to which the name leads.
  struct NamedFile {
    std::string name;
    bson::View document;
  };

  // Returns the next name, or nothing at the end. A name is returned once for each file to which
  // the name leads.
  Result<std::optional<NamedFile>> read();
  Result<std::optional<NamedFile>> read_filename();
  Result<std::optional<NamedFile>> read_link();
  // Continues at `name`.
  void skip_to(std::string name);
  // Continues after all entries of that name.
  void skip_behind(const std::string& name);
  Result<bool> is_shadowed(const std::string& path, const std::optional<NamedFile>& following);

  const PathIndex& path_index_;
  engine::Snapshot& snapshot_;
  const std::string directory_;
  const size_t prefix_bytes_;
  const std::string end_;  // after all names below the directory; empty for the root
  // The scan continues at from_ if inclusive_, else after from_.
  std::string from_;
  bool inclusive_;
  std::unique_ptr<engine::Cursor> cursor_;
  bool filenames_ended_ = false;
  std::optional<LinkScan> links_;
  // Entries that were read but not returned yet.
  std::optional<NamedFile> filename_;
  std::optional<NamedFile> link_;
  std::optional<NamedFile> ahead_;
};

}  // namespace gridmount::gridfs
