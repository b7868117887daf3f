// The explicit folders in a folder, by their keys (names.h).
//
// The index has them in the order of their names, which is another one: "a!" stands behind "a", but
// what is below "a!" before what is below "a". A name is held back while those that follow continue
// it with a byte below the slash; so as many are held as a name has such bytes, at most.
// Belongs to one snapshot and one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

class FolderScan {
 public:
  struct Folder {
    std::string component;
    bson::View document;  // valid as long as the snapshot
  };

  // Those of `parent` whose keys are greater than `behind`, or all; with `at`, without those made
  // later.
  FolderScan(const Bucket& bucket, engine::Snapshot& snapshot, std::string parent,
             std::optional<std::string> behind, std::optional<bson::Date> at = {});

  // The next folder, null at the end. It stays the next until consume().
  Result<const Folder*> peek();
  void consume() { next_.reset(); }
  // After peek(), of a name whose key as a file is not greater than the next folder's: whether a
  // folder of that name is still to come.
  bool is_ahead(std::string_view component) const;

 private:
  Status start();
  // Those that an earlier scan has held back at `behind_`.
  Status find_held();
  // Of the cursor, those that can be folders.
  Result<std::optional<Folder>> read();
  std::optional<Folder> folder_of(bson::View document) const;

  const Bucket& bucket_;
  engine::Snapshot& snapshot_;
  const std::string parent_;
  const std::optional<std::string> behind_;
  const std::optional<bson::Date> at_;
  std::unique_ptr<engine::Cursor> cursor_;
  std::optional<Folder> next_;
  std::vector<Folder> held_;     // each continues the one before it
  std::optional<Folder> ahead_;  // read, neither given nor held
};

}  // namespace gridmount::gridfs
