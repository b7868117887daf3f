// The implementation of PathNamespace over one bucket. The documents in the store hold the state.
// In memory the object has only open files, atimes that are not written yet, counts of
// subdirectories, the documents of directories that it has just changed (seen_directories.h), the
// names in directories that it has made (complete_directories.h) and, for a store that others
// change too, a short-lived cache of absent names (absent_names.h).
//
// bucket_namespace.cc has the look-ups of names, and the start and the end. Each
// bucket_namespace_*.cc file has one kind of operation, and names it in its first line.
//
// Thread-safe after start(). Lock order: ARCHITECTURE.md, chapter "Locks".
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/thread_safety.h"
#include "gridfs/namespace/absent_names.h"
#include "gridfs/namespace/access_times.h"
#include "gridfs/namespace/complete_directories.h"
#include "gridfs/namespace/directory_store.h"
#include "gridfs/namespace/name_lookup.h"
#include "gridfs/namespace/path_index.h"
#include "gridfs/namespace/path_namespace.h"
#include "gridfs/namespace/seen_directories.h"
#include "gridfs/namespace/subdirectory_counts.h"

namespace gridmount::gridfs {

class BucketNamespace final : public PathNamespace {
 public:
  // `store` must outlive this object.
  BucketNamespace(engine::Store& store, std::shared_ptr<engine::Database> database,
                  const BucketOptions& bucket, const NamespaceOptions& options);
  // Must be called before all other functions, and again if it fails. Creates the bucket's indexes
  // and the root's document, and reclaims the orphans that a killed process has left. Writes
  // nothing if the namespace is read-only, or if others can write to the store too: then the first
  // change creates the indexes and the root's document.
  Status start(const FileTableOptions& files);

  const Bucket& bucket() const override { return bucket_; }
  FileTable& files() override { return *files_; }

  Result<Node> lookup(std::string_view directory, std::string_view name) override;
  Result<Node> root() override { return get_directory(""); }
  Result<Node> file(bson::ValueView id) override;
  Result<Node> get_directory(std::string_view path) override;
  Result<std::unique_ptr<DirectoryStream>> list(std::string_view directory) override;
  Result<std::optional<Node>> find_by_ino(uint64_t ino) override;

  Result<Node> create_file(std::string_view directory, std::string_view name, uint32_t mode,
                           Creator creator) override;
  Result<OpenedFile> create_open_file(std::string_view directory, std::string_view name,
                                      uint32_t mode, Creator creator) override;
  Result<OpenedFile> create_tmpfile(std::string_view directory, uint32_t mode,
                                    Creator creator) override;
  Result<Node> mknod(std::string_view directory, std::string_view name, uint32_t mode,
                     uint64_t rdev, Creator creator) override;
  Result<Node> symlink(std::string_view directory, std::string_view name, std::string_view target,
                       Creator creator) override;
  Result<Node> mkdir(std::string_view directory, std::string_view name, uint32_t mode,
                     Creator creator) override;
  Result<Node> link(bson::ValueView id, std::string_view directory, std::string_view name) override;
  bool has_links() const override { return path_index_.links().in_use(); }
  Result<RemovedName> unlink(std::string_view directory, std::string_view name) override;
  Status rmdir(std::string_view directory, std::string_view name) override;
  Result<std::optional<RemovedName>> rename(std::string_view from_directory,
                                            std::string_view from_name,
                                            std::string_view to_directory, std::string_view to_name,
                                            RenameMode mode) override;
  Result<std::optional<RemovedName>> rename_leaving_whiteout(
      std::string_view from_directory, std::string_view from_name, std::string_view to_directory,
      std::string_view to_name, RenameMode mode, Creator creator) override;

  Result<Node> setattr_file(bson::ValueView id, const AttributeChanges& changes) override;
  Result<Node> setattr_directory(std::string_view path, const AttributeChanges& changes) override;
  Result<std::string> readlink(bson::ValueView id) override;
  bool record_read(const File& file) override;
  bool record_read(std::string_view directory) override;
  Result<PosixFields> file_posix(bson::ValueView id) override;
  Result<PosixFields> directory_posix(std::string_view path) override;
  Status change_file_posix(bson::ValueView id, const PosixChange& change) override;
  Status change_directory_posix(std::string_view path, const PosixChange& change) override;
  Result<std::string> file_field(bson::ValueView id, std::string_view field) override;
  Status set_file_field(bson::ValueView id, std::string_view field,
                        std::optional<std::string_view> text, XattrMode mode) override;
  Result<std::shared_ptr<File>> open_file(bson::ValueView id) override;
  Result<std::shared_ptr<File>> open_file_to_read(bson::ValueView id) override;

  Result<std::vector<Node>> revisions(std::string_view directory, std::string_view name) override;
  Result<std::optional<Node>> revision(std::string_view directory, std::string_view name,
                                       uint64_t number) override;
  Result<std::optional<bson::Value>> start_revision(bson::ValueView id) override;
  Result<std::unique_ptr<DirectoryStream>> list_ids() override;

  void name_changed_externally(std::string_view filename) override;
  void directory_changed_externally(std::string_view path) override {
    subdirectories_.drop_all();
    seen_directories_.forget_all();
    absent_names_.forget(path);
  }
  void directories_changed_externally() override {
    subdirectories_.drop_all();
    seen_directories_.forget_all();
    absent_names_.forget_all();
  }
  void links_changed_externally() override {
    // The names that are known of a directory do not include links.
    path_index_.links().changed_externally();
    absent_names_.forget_all();
  }
  Result<std::vector<std::string>> links_of(bson::ValueView id) override;

  Status close() override;

 private:
  // What a name leads to in a snapshot. The views are valid as long as views of the snapshot.
  struct Found {
    enum class Kind { kNothing, kExplicitDirectory, kImpliedDirectory, kFile };
    Kind kind = Kind::kNothing;
    std::string path;             // the directory's path, or the filename
    DirectoryDocument directory;  // kExplicitDirectory
    bson::View document;          // kFile: the newest revision. kImpliedDirectory: any file below
    // Set if NameLookup has found the name. `kept` or `named` holds the bytes of `document`.
    // `named` has all files with that filename.
    std::shared_ptr<const bson::Document> kept;
    std::shared_ptr<const std::vector<bson::Document>> named;
    // If the transaction has set the times of this directory: the version that the directory had
    // before. Otherwise empty.
    std::optional<AbsentNames::Version> touched;
    // If the transaction changes names in this directory: what SeenDirectories::changing()
    // returned.
    std::optional<uint64_t> change;
    // The _id of an unnamed file, which has no string as its filename. Otherwise empty.
    std::optional<bson::Value> unnamed_id;

    // Copies the document, so that it stays valid after the snapshot has ended.
    void keep_document();
    bool has_filename() const { return !unnamed_id.has_value(); }
    bool is_directory() const {
      return kind == Kind::kExplicitDirectory || kind == Kind::kImpliedDirectory;
    }
  };

  Result<Found> find(engine::Snapshot& snapshot, std::string_view directory,
                     std::string_view name) const;
  Result<Found> find_directory(engine::Snapshot& snapshot, const std::string& path) const;
  Result<Found> find_file(engine::Snapshot& snapshot, const std::string& path) const;
  // Finds the file at a path that is also the path of a directory.
  Result<Found> find_shadowed(engine::Snapshot& snapshot, const std::string& path) const;
  Result<Found> find_plain(engine::Snapshot& snapshot, const std::string& path) const;
  // Like find_plain(), but with one command to the deployment (name_lookup.h). Returns nothing if
  // one command is not enough for this path.
  Result<std::optional<Found>> find_at_once(engine::Snapshot& snapshot,
                                            const std::string& path) const;
  // Returns true if complete_directories_ or absent_names_ shows that the name does not exist. A
  // look-up then does not search the store for the name.
  Result<bool> is_known_absent(std::string_view directory, std::string_view name) const;
  Result<Found> find_long(engine::Snapshot& snapshot, std::string_view directory,
                          const struct ParsedName& name) const;
  Result<Found> find_by_id(engine::Snapshot& snapshot, std::string_view name,
                           const std::string& json) const;
  Node node_of(const Found& found) const;
  Node node_of_file(bson::View document) const;
  Node node_of_open(const File& file) const;  // without its link count
  // Sets the fields of the node that do not come from its document: the atime, and for a directory
  // the count of subdirectories.
  void complete(Node& node) const;
  tl::unexpected<Error> no_such_entry(std::string_view directory, std::string_view name) const;
  std::string shown(std::string_view directory, std::string_view name) const;

  // Must be called at the beginning of each change, before the change begins its transaction. Fails
  // with StoreReadOnly if the namespace is read-only, and otherwise as prepare() does.
  Status begin_change();
  // If others can write to the store, checks whether they have created the collection of links.
  // Checks at most once a second. Does nothing if the collection of links is already in use.
  void look_for_links();
  // Creates the bucket's indexes and the root's document, which changes need, in one transaction.
  Status prepare();
  // Does nothing if the bucket is already prepared. Otherwise calls prepare(), and then makes
  // files_ renew the leases of its orphans.
  Status prepare_for_changes() GM_EXCLUDES(preparing_);
  // The scope of a change that does not tell seen_directories_ and absent_names_ what it has
  // written. Empties these caches at the beginning and at the end of the scope.
  class Forgetting {
   public:
    explicit Forgetting(BucketNamespace& paths)
        : seen_(paths.seen_directories_), absent_(paths.absent_names_) {
      absent_.forget_all();
    }
    ~Forgetting() { absent_.forget_all(); }
    Forgetting(const Forgetting&) = delete;
    Forgetting& operator=(const Forgetting&) = delete;

   private:
    const SeenDirectories::Forgetting seen_;
    AbsentNames& absent_;
  };
  // The path that a new child would have, and its directory.
  struct NewPath {
    std::string path;
    Found directory;
  };
  // Finds the path and the directory of a new child. Fails with InvalidName if no node can be
  // created with this name, with NameTooLong if the name or the path is too long, with EntryExists
  // if the name is taken, and with NoSuchEntry if the directory does not exist.
  Result<NewPath> new_path_in(engine::Transaction& transaction, std::string_view directory,
                              std::string_view name);
  Status check_directory_path(std::string_view path) const;
  // Changes the directory's fields. If the directory is only implied, inserts documents for the
  // directory and for the implied directories above it.
  Status change_directory(engine::Transaction& transaction, std::string_view path,
                          const PosixFields& changes);
  // Sets mtime and ctime of the directory to the current time.
  Status touch(engine::Transaction& transaction, std::string_view directory);
  // Like touch(), but does nothing if the transaction has already touched the directory, or if the
  // directory has these times already. `found` is the directory, as this transaction has found it,
  // and gets the new times.
  Status touch(engine::Transaction& transaction, std::string_view directory, Found& found);
  // Returns true if the directory was changed in this tick of the clock (file_time.h), and nobody
  // but this process counts its changes.
  bool has_present_times(const Found& directory) const;
  // Commits a change of names in the directory, and updates seen_directories_ and absent_names_.
  // `made` is the path of the node that the change has created, if it has created one.
  Status commit_in(engine::Transaction& transaction, const Found& directory,
                   std::optional<std::string_view> made = {});
  // Finds the directory in which the transaction is going to change names. If the same command can
  // also touch the directory, does so, and sets Found::touched.
  Result<Found> find_to_change(engine::Transaction& transaction, std::string_view directory);
  // Returns the md5 of a new, empty file, or nothing if the bucket keeps no md5.
  std::optional<std::string> md5_of_nothing() const;
  // Opens the file, and returns the open file with the node that it has now.
  Result<OpenedFile> open_with_node(bson::ValueView id);
  // Creates a node that is no directory, with a files document. If `opened` is not null, also opens
  // the file and stores it there.
  Result<Node> insert_file(std::string_view directory, std::string_view name, PosixFields posix,
                           uint32_t umask, std::shared_ptr<File>* opened = nullptr);
  // Returns the files document of a new, empty file. `path` becomes its filename. Without `path`,
  // the document has no filename.
  bson::Document new_files_document(const std::optional<std::string>& path,
                                    const PosixFields& posix) const;
  // Gives a tmpfile its first name.
  Status attach(engine::Transaction& transaction, bson::ValueView id, const std::string& path);
  // Returns the directory's fields, always with mode, uid and gid.
  PosixFields posix_of_directory(const Found& directory) const;

  // A file that loses one of its names in a transaction.
  struct NameLoss {
    bson::Document document;  // the files document before the transaction changed it
    uint32_t names_left = 0;  // the names that the file still has; 0: the file has been removed
  };
  // Returns the file that has lost its name, as it was before. Must be called after the end of the
  // transaction: this function takes the lock of the open file, and another thread may hold that
  // lock while it waits for the transaction.
  RemovedName removed_name(const NameLoss& loss) const;
  // Removes the name from all files that have it. A file that has no other name is removed.
  Result<NameLoss> remove_name(engine::Transaction& transaction, const Found& file);
  // Removes the name `path` of the file `id`, and the file itself if it has no other name. Returns
  // how many names the file has left. 0 means that the file has been removed.
  Result<uint32_t> remove_name_of(engine::Transaction& transaction, const std::string& path,
                                  const bson::Value& id);
  // Removes the document of an additional name of a file, and lowers file.links, which the caller
  // must then write to the files document. Returns false and changes nothing if `name` is no
  // additional name of the file.
  Result<bool> remove_link(engine::Transaction& transaction, const std::string& name,
                           LinkedFile& file) const;
  // Called instead of remove_name() when the file `source` takes the name of the file `target` and
  // the bucket keeps revisions. If `target` has another name, or cannot be an earlier revision,
  // does what remove_name() does. Otherwise gives `source` an uploadDate that makes it the newest
  // revision of the name. The document of `target` then stays as an earlier revision if it has
  // content. Returns what remove_name() returns.
  Result<NameLoss> retire_name(engine::Transaction& transaction, const Found& source,
                               const Found& target);
  // Builds the document `next`, which takes the place of a file, and moves the file's additional
  // names to it.
  Result<bson::Document> continue_with_names(engine::Transaction& transaction, bson::ValueView id,
                                             const bson::Value& next, bson::Date date) const;
  // Finds a file for revisions() or revision(). Fails with NoSuchEntry or IsADirectory.
  Result<Found> find_revised(engine::Snapshot& snapshot, std::string_view directory,
                             std::string_view name) const;
  // Removes the revisions of the name beyond the limit.
  Status remove_old_revisions(engine::Transaction& transaction, std::string_view filename);
  Result<bool> is_empty(engine::Snapshot& snapshot, std::string_view path) const;
  // Frees the path of `target` for `source`: removes the name of the file, or the empty directory,
  // that is there. If it was a file, returns the file that lost its name.
  Result<std::optional<NameLoss>> make_room(engine::Transaction& transaction, const Found& source,
                                            const Found& target, std::string_view shown_target);
  Status move_file(engine::Transaction& transaction, const Found& source,
                   const std::string& to) const;
  // Reads `file` again from the store. If `from` is an additional name of the file, replaces this
  // name by `to`.
  Status move_link(engine::Transaction& transaction, const std::string& from, const std::string& to,
                   LinkedFile& file) const;
  Status move_directory(engine::Transaction& transaction, const Found& source,
                        const std::string& to);
  // Inserts a document for a directory that is being moved and was only implied. `path` is its path
  // before or after the move. The document keeps the ino of the directory. Does nothing if there is
  // a document at `path`.
  Status preserve_ino(engine::Transaction& transaction, const Node& implied,
                      const std::string& path);
  Status move(engine::Transaction& transaction, const Found& source, const std::string& to);
  // Updates the counts of subdirectories after `source` was moved from the directory `from` to the
  // directory `to`, or exchanged with `target`, as `mode` says. Drops all counts if `source` or
  // `target` is an implied directory.
  void count_moved(const Found& source, const Found& from, const Found& target, const Found& to,
                   RenameMode mode);
  // Commits a transaction. The counts of subdirectories must already include its changes. Drops all
  // counts if the commit fails.
  Status commit_counted(engine::Transaction& transaction);
  // Returns true if two existing names lead to the same file or directory.
  static bool is_same(const Found& a, const Found& b);
  Status exchange(engine::Transaction& transaction, const Found& one, const Found& other);
  // Implements rename() and rename_leaving_whiteout(). If `whiteout` is set, creates a whiteout
  // with this creator at the old path.
  Result<std::optional<RemovedName>> rename_by(std::string_view from_directory,
                                               std::string_view from_name,
                                               std::string_view to_directory,
                                               std::string_view to_name, RenameMode mode,
                                               const std::optional<Creator>& whiteout);
  Status insert_whiteout(engine::Transaction& transaction, std::string_view directory,
                         std::string_view name, const Creator& creator);

  engine::Store& store_;
  const NamespaceOptions options_;
  std::atomic<bool> is_prepared_ = false;
  Mutex preparing_{LockUse::kHeldOverReads};  // held while the bucket is prepared
  std::atomic<std::chrono::steady_clock::time_point> links_looked_for_{};
  const Bucket bucket_;
  DirectoryStore directories_;
  PathIndex path_index_;
  const NameLookup name_lookup_;
  std::unique_ptr<FileTable> files_;
  SubdirectoryCounts subdirectories_;
  SeenDirectories seen_directories_;
  AccessTimes access_times_;
  mutable AbsentNames absent_names_;
  mutable CompleteDirectories complete_directories_;
};

}  // namespace gridmount::gridfs
