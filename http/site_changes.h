// The changes that clients make in the tree of a site: PUT, DELETE and MKCOL, and COPY, MOVE,
// PROPPATCH, LOCK and UNLOCK of WebDAV. Sources: RFC 9110; RFC 4918.
//
// A change is made as a driver makes it, with the documents of GridFS, so a mount of the same
// process must watch the store (WatchedStore). Each change is one transaction, which also checks
// the conditions of the request, sets the mtime of the directory, and makes implied directories
// explicit (rules V1 and V2 of path_namespace.h). Two changes consist of many transactions: the
// removal of a directory with what is in it, and the copy of a directory.
//
// The transaction also checks the locks (lock_table.h). The field If is evaluated before it.
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

  // The targets of all these must lead into a bucket: they have two components or more. `paths` is
  // the bucket of the first one. They fail with the errors of site_error.h and of PathNamespace.
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
  // Moves a file with its revisions, or a directory with everything in it, in one transaction.
  Result<Answer> move(const Request& request, const Target& from, const Target& to,
                      const Paths& paths) const;

  // Makes or refreshes a lock. A name that leads nowhere gets an empty file.
  Result<Answer> lock(const Request& request, const Target& target, const Paths& paths) const;
  Result<Answer> unlock(const Request& request, const Target& target, const Paths& paths) const;
  // Sets the mtime. All other properties are refused one by one.
  Result<Answer> patch_properties(const Request& request, const Target& target,
                                  const Paths& paths) const;
  // Evaluates the field If. Fails with PreconditionFailed if it does not hold, and as parse_if()
  // does. `host` is the name of this server.
  Status check_if(const Request& request, const Target& target, const std::string& host,
                  const OpenBucket& open_bucket) const;
  const std::shared_ptr<LockTable>& locks() const { return locks_; }

  // Makes the copies and removals of trees that are being made fail soon.
  void stop() const { *is_stopping_ = true; }

 private:
  using Check = std::function<Status(const std::optional<Validators>& present)>;
  struct CopiedTree;

  // Opens the bucket as new files need it.
  gridfs::Bucket bucket_for(gridfs::PathNamespace& paths) const;
  Status check_running() const;
  Result<std::unique_ptr<Slot>> take_tree_slot() const {
    return Slot::take(tree_changes_, options_.tree_changes_max, "copies, moves and removals");
  }

  // Returns the tokens in the field If.
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
  // Adds the lock of what has the name.
  Result<Lock> lock_existing(const Place& place, const gridfs::Bucket& bucket,
                             const LockClaim& claim, const Lock& lock) const;
  // Makes an empty file and adds its lock.
  Result<Lock> lock_new(const Place& place, gridfs::PathNamespace& paths, const LockClaim& claim,
                        const Lock& lock) const;

  // The reply to PROPPATCH.
  Result<Reply> patch_by(const Request& request, const Target& target, const Paths& paths,
                         std::string_view body) const;

  // Removes a file, or an empty directory, and the locks of it. Calls `check` in the transaction.
  Status remove_place(const Place& place, const gridfs::Bucket& bucket, const LockClaim& claim,
                      const Check& check) const;
  // Removes everything below the directory at `components`. Adds to `failures` what could not be
  // removed.
  Status remove_below(const std::vector<std::string>& components, const gridfs::Node& directory,
                      gridfs::PathNamespace& paths, const gridfs::Bucket& bucket,
                      const LockClaim& claim, TreeFailures& failures) const;
  // Checks, before anything in the destination is removed, that no file is hidden behind it. Fails
  // with Conflict.
  Status check_removable(const Place& destination, const gridfs::Bucket& bucket,
                         const LockClaim& claim) const;
  // Checks, before anything in the destination is removed, that the move can be made. Fails as the
  // move would.
  Status check_movable(const Request& request, const Place& source, const Place& destination,
                       const gridfs::Bucket& bucket, const LockClaim& claim) const;
  // Copies the file with that _id to the place. Calls `check` for what is replaced. Returns true if
  // something was replaced.
  Result<bool> copy_file(const Paths& from_paths, bson::ValueView id, const Place& to,
                         gridfs::PathNamespace& to_paths, const LockClaim& claim,
                         const Check& check) const;
  // Makes the directory with the attributes of `from`.
  Status copy_directory(const Paths& from_paths, const gridfs::Node& from, const Place& to,
                        gridfs::PathNamespace& to_paths, const LockClaim& claim) const;
  // Copies what is below the directory `from`.
  Status copy_below(const CopiedTree& tree, TreeFailures& failures) const;

  engine::Store& store_;
  const std::shared_ptr<engine::Database> database_;
  const WriteOptions options_;
  // The numbers of uploads, and of copies, moves and removals of trees. Shared with the receivers,
  // which may outlive the object.
  const Slot::Count uploads_ = std::make_shared<std::atomic<size_t>>(0);
  const Slot::Count tree_changes_ = std::make_shared<std::atomic<size_t>>(0);
  const std::shared_ptr<LockTable> locks_ = std::make_shared<LockTable>();
  const std::shared_ptr<std::atomic<bool>> is_stopping_ =
      std::make_shared<std::atomic<bool>>(false);
};

}  // namespace gridmount::http
