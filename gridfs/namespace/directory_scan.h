// Scans the explicit directories of a parent, in the order of their keys (path_index.h).
//
// The index orders them by name, which is another order. The index has "a!" after "a", but the key
// "a!/" sorts before "a/", because '!' is less than '/'. So the scan holds a name back while the
// next names begin with it and continue with a byte below the slash. It holds at most one name for
// each such byte in a name.
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
    bson::View document;  // valid as long as the snapshot
  };

  // Scans the directories of `parent` whose keys are greater than `behind`, or all. With `at`,
  // ignores directories made later.
  DirectoryScan(const Bucket& bucket, engine::Snapshot& snapshot, std::string parent,
                std::optional<std::string> behind, std::optional<bson::Date> at = {});

  // Returns the next directory, or null at the end. It stays the next one until consume().
  Result<const Directory*> peek();
  void consume() { next_.reset(); }
  // Called after peek(). `component` must not sort after the key of the directory that peek() has
  // returned. Returns true if a directory of that name is still to come.
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
  std::vector<Directory> held_;     // each name continues the one before it
  std::optional<Directory> ahead_;  // read, neither returned nor held
};

}  // namespace gridmount::gridfs
