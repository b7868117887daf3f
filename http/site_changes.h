// The changes that clients make in the tree of a site: PUT, DELETE and MKCOL, and COPY, MOVE,
// PROPPATCH, LOCK and UNLOCK of WebDAV. Sources: RFC 9110; RFC 4918.
//
// SiteChanges changes the documents of GridFS, as a driver does. So if the same process has a mount
// of the store, the store must be a WatchedStore. Each change is made by one transaction, which
// also checks the conditions of the request, sets the mtime of the directory, and makes implied
// directories explicit (rules V1 and V2 of path_namespace.h). Three changes consist of many
// transactions: the removal of a directory with everything in it, the copy of a directory, and a
// copy or move that replaces a directory.
//
// The transaction also checks the locks (lock_table.h). The field If is evaluated before the
// transaction begins.
//
// Thread-safe. Must be owned by a std::shared_ptr.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/namespace/path_namespace.h"
#include "http/place_change.h"
#include "http/request_handler.h"
#include "http/slot.h"
#include "http/target.h"
#include "http/tree_failures.h"
#include "http/write_options.h"

namespace gridmount::http {

class SiteChanges : public std::enable_shared_from_this<SiteChanges> {
 public:
  using Paths = std::shared_ptr<gridfs::PathNamespace>;
  using OpenBucket = std::function<Result<Paths>(const std::string& name)>;

  // `store` must outlive the object and the receivers that its functions return.
  SiteChanges(engine::Store& store, std::shared_ptr<engine::Database> database,
              const WriteOptions& options);

  // The targets of the following functions must lead into a bucket, so they must have two
  // components or more. `paths` is the bucket that the first component of the target names. The
  // functions fail with the errors of site_error.h and of PathNamespace.
  //
  // Begins to replace or create a file.
  Result<Answer> put(const Request& request, const Target& target, const Paths& paths) const;
  // Removes a file with all its revisions, or a directory with everything in it.
  Result<Answer> remove(const Request& request, const Target& target, const Paths& paths) const;
  Result<Answer> make_directory(const Request& request, const Target& target,
                                const Paths& paths) const;
  // Copies a file or a directory, maybe into another bucket.
  Result<Answer> copy(const Request& request, const Target& from, const Paths& from_paths,
                      const Target& to, const Paths& to_paths) const;
  // Moves a file with its revisions, or a directory with everything in it, in one transaction. If
  // there is a directory at `to`, other transactions first remove what is in this directory.
  Result<Answer> move(const Request& request, const Target& from, const Target& to,
                      const Paths& paths) const;

  // Makes or refreshes a lock. A name that leads nowhere gets an empty file.
  Result<Answer> lock(const Request& request, const Target& target, const Paths& paths) const;
  Result<Answer> unlock(const Request& request, const Target& target, const Paths& paths) const;
  // Sets the mtime. The reply refuses each other property. If a property is refused, the mtime is
  // not changed either.
  Result<Answer> patch_properties(const Request& request, const Target& target,
                                  const Paths& paths) const;
  // Evaluates the field If. Fails with PreconditionFailed if its conditions are not met, and as
  // parse_if() does. `host` is the name of this server.
  Status check_if(const Request& request, const Target& target, const std::string& host,
                  const OpenBucket& open_bucket) const;
  const std::shared_ptr<LockTable>& locks() const { return locks_; }

  // Makes the copies and removals of trees that are in progress, and later ones, fail soon.
  void stop() const { *is_stopping_ = true; }

 private:
  using Check = std::function<Status(const std::optional<Validators>& present)>;
  struct CopiedTree;

  // Opens the bucket of `paths` with the chunk size and the md5 setting for new files.
  gridfs::Bucket bucket_for(gridfs::PathNamespace& paths) const;
  Status check_running() const;
  Result<std::unique_ptr<Slot>> take_tree_slot() const {
    return Slot::take(tree_changes_, options_.tree_changes_max, "copies, moves and removals");
  }

  // Returns the lock tokens in the field If. Fails as parse_if() does.
  Result<LockClaim> claim_of(const Request& request) const;
  Status check_locks(const LockClaim& claim, gridfs::PathNamespace& paths, const Place& place,
                     LockScope scope) const {
    return claim.table->check(lock_path(paths.bucket().options().name, place.path), scope,
                              claim.tokens);
  }
  // The reply to LOCK.
  Result<Reply> lock_by(const Request& request, const Target& target, const Paths& paths,
                        std::string_view body) const;
  Result<Reply> refresh_lock(const Request& request, const std::string& path) const;
  // Adds the lock of an existing file or directory.
  Result<Lock> lock_existing(const Place& place, const gridfs::Bucket& bucket,
                             const LockClaim& claim, const Lock& lock) const;
  // Makes an empty file and adds its lock.
  Result<Lock> lock_new(const Place& place, gridfs::PathNamespace& paths, const LockClaim& claim,
                        const Lock& lock) const;

  // The reply to PROPPATCH.
  Result<Reply> patch_by(const Request& request, const Target& target, const Paths& paths,
                         std::string_view body) const;

  // Removes a file, or an empty directory, and its locks. Calls `check` in the transaction.
  Status remove_place(const Place& place, const gridfs::Bucket& bucket, const LockClaim& claim,
                      const Check& check) const;
  // Removes everything below the directory at `components`. Adds to `failures` what could not be
  // removed.
  Status remove_below(const std::vector<std::string>& components, const gridfs::Node& directory,
                      gridfs::PathNamespace& paths, const gridfs::Bucket& bucket,
                      const LockClaim& claim, TreeFailures& failures) const;
  // Must be called before anything in the destination is removed. Fails with Conflict if the
  // destination is a directory that hides a file with the same name.
  Status check_removable(const Place& destination, const gridfs::Bucket& bucket,
                         const LockClaim& claim) const;
  // Must be called before anything in the destination is removed. Fails as the move would, if the
  // move cannot be made.
  Status check_movable(const Request& request, const Place& source, const Place& destination,
                       const gridfs::Bucket& bucket, const LockClaim& claim) const;
  // Copies the file with the _id `id` to the place. Calls `check` in the transaction, with the file
  // that is replaced. Returns true if a file was replaced.
  Result<bool> copy_file(const Paths& from_paths, bson::ValueView id, const Place& to,
                         gridfs::PathNamespace& to_paths, const LockClaim& claim,
                         const Check& check) const;
  // Makes the directory with the attributes of `from`.
  Status copy_directory(const Paths& from_paths, const gridfs::Node& from, const Place& to,
                        gridfs::PathNamespace& to_paths, const LockClaim& claim) const;
  // Copies what is below the directory `tree.directory`. Adds to `failures` what could not be
  // copied.
  Status copy_below(const CopiedTree& tree, TreeFailures& failures) const;

  engine::Store& store_;
  const std::shared_ptr<engine::Database> database_;
  const WriteOptions options_;
  // The numbers of uploads in progress, and of the changes that WriteOptions::tree_changes_max
  // limits. Shared with the receivers, which may outlive the object.
  const Slot::Count uploads_ = std::make_shared<std::atomic<size_t>>(0);
  const Slot::Count tree_changes_ = std::make_shared<std::atomic<size_t>>(0);
  const std::shared_ptr<LockTable> locks_ = std::make_shared<LockTable>();
  const std::shared_ptr<std::atomic<bool>> is_stopping_ =
      std::make_shared<std::atomic<bool>>(false);
};

}  // namespace gridmount::http
