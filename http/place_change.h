// A change of one place in the tree of a bucket, with the documents of GridFS: what PUT, DELETE,
// MKCOL, COPY and MOVE consist of.
//
// A Place is a plain value. A PlaceChange belongs to one transaction and its thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "gridfs/namespace/directory_store.h"
#include "gridfs/namespace/path_index.h"
#include "gridfs/namespace/path_namespace.h"
#include "http/lock_table.h"
#include "http/preconditions.h"
#include "http/request.h"

namespace gridmount::http {

// Where a change happens.
struct Place {
  std::vector<gridfs::Node> directories;  // from the root to the parent
  std::optional<gridfs::Node> node;       // what has the name; unset: nothing
  std::string path;                       // the filename of the file, or the path of the directory

  bool is_directory() const { return node && node->kind == gridfs::NodeKind::kDirectory; }
};

// Finds the place of a path, whose first component is the bucket's name and which has at least one
// more. Fails with Conflict if the parent does not exist, and with InvalidName or NameTooLong if
// nothing can have the name.
Result<Place> locate(gridfs::PathNamespace& paths, const std::vector<std::string>& components);
// Like locate(), for what must be there. Also fails with NoSuchEntry.
Result<Place> locate_existing(gridfs::PathNamespace& paths,
                              const std::vector<std::string>& components);

std::optional<Validators> validators_of(const std::optional<gridfs::FilesDocument>& file);
// Fails with PreconditionFailed.
Status check_conditions(const Request& request, const std::optional<Validators>& present);

class PlaceChange {
 public:
  // All arguments must outlive the object.
  PlaceChange(const gridfs::Bucket& bucket, const gridfs::NamespaceOptions& options,
              const LockClaim& claim, const Place& place, engine::Transaction& transaction)
      : bucket_(bucket),
        options_(options),
        claim_(claim),
        place_(place),
        transaction_(transaction),
        directories_(bucket),
        names_(bucket) {}

  // One of these two must be called first. begin() makes the directories above explicit. It fails
  // with Locked as check_locks() does, and with Conflict if one of the directories is gone.
  Status begin(LockScope scope);
  Status begin_reading();
  // Fails with Locked if the change needs the token of a lock.
  Status check_locks(LockScope scope) const;
  // Must be called last. Sets the mtime of the parent.
  Status touch_parent();

  // Returns true if there is still what has the name in the place.
  Result<bool> is_there();
  // Returns true if a file has the name of a directory, which hides it.
  Result<bool> hides_file();
  // Fails as check_replaceable() does for one of the files of the name.
  Status check_movable();
  // Returns the file that has the name, or nothing. Fails with Conflict if a directory has it.
  Result<std::optional<bson::Document>> present();
  // Fails with Conflict if the file has further names, and with PermissionDenied if it is no
  // regular file.
  Status check_replaceable(bson::View file);
  // Removes the files of the name, except for the `kept` newest. Fails as check_replaceable() does
  // for one of them.
  Status remove_files(uint32_t kept);
  // Gives all files of the name the filename `to`. Fails as check_replaceable() does for one of
  // them.
  Status move_files(const std::string& to);

  // Both fail with InvalidName if no directory can have the path.
  Status make_directory(const gridfs::PosixFields& posix);
  // Moves the directory, which must exist, and everything below it. Fails with NoSuchEntry if it is
  // gone.
  Status move_directory(const std::string& to);
  // Fails with DirectoryNotEmpty.
  Status remove_directory();

  // Sets the mtime of the file or directory. Fails with NoSuchEntry if it is gone, and for a file
  // as check_replaceable() does.
  Status set_mtime(const timespec& mtime);

  // The fields of a new directory.
  gridfs::PosixFields new_directory_fields() const;

  // The files that must be reclaimed after the commit.
  std::vector<bson::Value> take_detached() { return std::move(detached_); }

 private:
  // The files of the name, except for the `kept` newest.
  Result<std::vector<bson::Document>> files_behind(uint32_t kept);
  // Makes the directory of the place explicit. Fails with NoSuchEntry if it is gone.
  Status make_place_explicit();
  // Makes a directory explicit that is so far only implied, unless it is explicit.
  Status make_explicit(const gridfs::Node& implied, const std::string& path);

  const gridfs::Bucket& bucket_;
  const gridfs::NamespaceOptions& options_;
  const LockClaim& claim_;
  const Place& place_;
  engine::Transaction& transaction_;
  gridfs::DirectoryStore directories_;
  gridfs::PathIndex names_;
  std::vector<bson::Value> detached_;
};

// Removes the chunks of files that no longer have a name. What stays after an error is removed at
// the next start of a program.
void reclaim(const gridfs::Bucket& bucket, const std::vector<bson::Value>& files);

}  // namespace gridmount::http
