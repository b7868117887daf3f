// Changes one place in the tree of a bucket, by changing the documents of GridFS. PUT, DELETE,
// MKCOL, COPY, MOVE, PROPPATCH and LOCK consist of such changes.
//
// Thread-safety: a Place is a plain value. A PlaceChange belongs to one transaction and its thread.
// The other functions are thread-safe.
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

// The place of a change. A Place shows the tree at the time of locate(), so it may be outdated.
struct Place {
  std::vector<gridfs::Node> directories;  // from the root to the parent
  std::optional<gridfs::Node> node;       // the file or directory in the place, if there is one
  std::string path;                       // the filename of the file, or the path of the directory

  bool is_directory() const { return node && node->kind == gridfs::NodeKind::kDirectory; }
};

// Finds the place of a path. The first component is the bucket's name, and there must be at least
// one more. Fails with Conflict if the parent is not an existing directory, with InvalidName or
// NameTooLong if nothing can have the name, and with PermissionDenied if the file in the place has
// no filename.
Result<Place> locate(gridfs::PathNamespace& paths, const std::vector<std::string>& components);
// Like locate(), but fails with NoSuchEntry if nothing is in the place, or if the parent is not an
// existing directory.
Result<Place> locate_existing(gridfs::PathNamespace& paths,
                              const std::vector<std::string>& components);

// Returns the entity tag and the time of modification of the file, or nothing if `file` is nullopt.
std::optional<Validators> validators_of(const std::optional<gridfs::FilesDocument>& file);
// Checks the conditions of the request, such as If-Match. `present` must have the validators of the
// file in the place, or nothing if there is no file. Fails with PreconditionFailed if a condition
// is not met.
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

  // Either begin() or begin_reading() must be called before all other functions.
  //
  // begin() is for a change. It creates the bucket's indexes and the root's document if they are
  // missing, and makes the directories above the place explicit. Fails as check_locks() does, and
  // with Conflict if one of these directories was explicit at the time of locate() and is not
  // explicit now.
  Status begin(LockScope scope);
  // begin_reading() is for a transaction that changes nothing. It does not check the locks.
  Status begin_reading();
  // Fails with Locked if a lock forbids the change, and its token is not in the claim.
  Status check_locks(LockScope scope) const;
  // Must be called last in a change of a name. Sets mtime and ctime of the parent to the current
  // time.
  Status touch_parent();

  // If locate() found a directory, returns whether the place still has a directory. Otherwise
  // returns whether the place has a file.
  Result<bool> is_there();
  // If locate() found a directory, returns whether the place also has a file, which the directory
  // hides. Otherwise returns false.
  Result<bool> hides_file();
  // Checks all files with the filename. Fails as check_replaceable() does for one of them.
  Status check_movable();
  // Returns the newest file in the place, or nothing. Fails with Conflict if a directory is there.
  Result<std::optional<bson::Document>> present();
  // Fails with Conflict if the file has further names (hard links), and with PermissionDenied if
  // the file is not a regular file.
  Status check_replaceable(bson::View file);
  // Removes the files with the filename, except for the `kept` newest files. Some files are only
  // moved to `detached` (Bucket::remove_document()), and their chunks stay: see take_detached().
  // Fails as check_replaceable() does for one of the files to remove.
  Status remove_files(uint32_t kept);
  // Changes the filename of all files in the place to `to`. Fails as check_replaceable() does for
  // one of these files. Does not check whether anything is at `to`.
  Status move_files(const std::string& to);

  // Creates the document of a directory. Fails with InvalidName if no directory can have the path.
  // The caller must have checked that nothing is in the place.
  Status make_directory(const gridfs::PosixFields& posix);
  // Moves the directory in the place, and everything below it, to the path `to`. Fails with
  // InvalidName if no directory can have the path `to`, and with NoSuchEntry if the directory was
  // removed. Does not check whether anything is at `to`.
  Status move_directory(const std::string& to);
  // Removes the directory in the place. Fails with DirectoryNotEmpty if it is not empty.
  Status remove_directory();

  // Sets the mtime of the file or directory, and sets its ctime to the current time. Fails with
  // NoSuchEntry if the file or directory was removed. For a file, also fails as present() and
  // check_replaceable() do.
  Status set_mtime(const timespec& mtime);

  // Returns the fields of a new directory, with the current time.
  gridfs::PosixFields new_directory_fields() const;

  // Returns the _ids of the removed files whose chunks are still there. The caller must pass them
  // to reclaim() after the commit.
  std::vector<bson::Value> take_detached() { return std::move(detached_); }

 private:
  // Returns the files with the filename, except for the `kept` newest files.
  Result<std::vector<bson::Document>> files_behind(uint32_t kept);
  // Makes the directory in the place explicit. Fails with NoSuchEntry if it was removed.
  Status make_place_explicit();
  // Makes an implied directory explicit. Does nothing if there is a directory's document at `path`.
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

// Removes the chunks of files that no longer have a name. Logs errors as warnings. After an error,
// the next program that opens the bucket for writing removes the chunks (Bucket::reclaim_all()).
void reclaim(const gridfs::Bucket& bucket, const std::vector<bson::Value>& files);

}  // namespace gridmount::http
