// Reads the explicit directories in a parent directory, in the order of their keys (path_index.h).
//
// The index has the directories in another order, by name. The index has "a!" after "a", but the
// key "a!/" sorts before "a/", because '!' is less than '/'. So the scan holds a name back while
// the next names begin with that name and continue with a byte less than the slash. Therefore each
// held name is the beginning of every name that is held after it, and the number of held names is
// at most one more than the number of such bytes in one name.
//
// Not thread-safe. Belongs to one snapshot and one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

class DirectoryScan {
 public:
  struct Directory {
    std::string component;
    bson::View document;  // valid as long as views of the snapshot
  };

  // Scans the directories of `parent` whose keys are greater than `behind`, or all if `behind` is
  // unset. With `at`, ignores directories that were made after this time. `bucket` and `snapshot`
  // must outlive the scan.
  DirectoryScan(const Bucket& bucket, engine::Snapshot& snapshot, std::string parent,
                std::optional<std::string> behind, std::optional<bson::Date> at = {});

  // Returns the next directory, or null at the end. Returns the same directory until consume() is
  // called.
  Result<const Directory*> peek();
  void consume() { next_.reset(); }
  // Returns true if a directory with the name `component` is still to be consumed: peek() has
  // returned it, or will return it later. Must be called after peek(). If peek() has returned a
  // directory, the key of this directory must not be less than `component`.
  bool is_ahead(std::string_view component) const;

 private:
  Status start();
  // Finds the directories that an earlier scan held back when it was at `behind_`.
  Status find_held();
  // Returns the next valid directory of the cursor.
  Result<std::optional<Directory>> read();
  std::optional<Directory> directory_of(bson::View document) const;

  const Bucket& bucket_;
  engine::Snapshot& snapshot_;
  const std::string parent_;
  const std::optional<std::string> behind_;
  const std::optional<bson::Date> at_;
  std::unique_ptr<engine::Cursor> cursor_;
  std::optional<Directory> next_;
  std::vector<Directory> held_;     // each name begins with the name before it
  std::optional<Directory> ahead_;  // read, neither returned nor held
};

}  // namespace gridmount::gridfs
