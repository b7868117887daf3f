// The mounted tree: what each operation of the kernel does, over the buckets' PathNamespaces and
// without libfuse.
//
// The root lists the buckets, or is one bucket. mkdir, rmdir and rename in a root of buckets
// create, remove and rename buckets. Other changes of such a root fail with kNotPermitted (unlink
// fails with IsADirectory), because a GridFS file belongs to a bucket and no document describes the
// root.
//
// Locks, outermost first:
// 1. The tree lock. An operation that uses a path or a bucket holds the lock shared. An operation
//    holds the lock exclusively if it changes the paths of directories (rename), if it creates,
//    removes or renames a bucket, or if it begins a revision, because the node then gets another
//    files document (start_revision()). Operations hold the lock during the store's work, because a
//    path must not change between its construction from the table and its use. The rename of a
//    directory may take long, so it holds the lock exclusively only before and after the store's
//    work (directory_moves.h).
// 2. DirectoryHandle::mutex().
// 3. The mutexes of Buckets and of a MountedBucket.
// 4. unlinked_mutex_.
// 5. handles_mutex_.
// 6. The mutexes of InodeTable, FileHandle, DirectoryMoves, NlinkRaceGuard, KnownWithoutXattrs and
//    SeenContents. A thread takes no other lock while it holds one of these.
//
// Reads and writes of open files take none of these locks except FileHandle::mutex.
//
// Thread-safe. Every operation except forget() may fail with the error of a lower layer or with an
// error code of errno.h.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/thread_safety.h"
#include "fuse/tree/buckets.h"
#include "fuse/tree/change_events.h"
#include "fuse/tree/control_directory.h"
#include "fuse/tree/directory_handle.h"
#include "fuse/tree/directory_moves.h"
#include "fuse/tree/external_changes.h"
#include "fuse/tree/inode_table.h"
#include "fuse/tree/kernel_cache.h"
#include "fuse/tree/known_without_xattrs.h"
#include "fuse/tree/nlink_race_guard.h"
#include "fuse/tree/room_watch.h"
#include "fuse/tree/seen_contents.h"

namespace gridmount::fuse {

// How long the kernel may cache attributes, in seconds. All changes of a local store go through
// this process, which tells the kernel what drivers change. So the kernel may cache for a year
// (kCacheForever). For a deployment, BucketSettings::cache_time limits the time. The time is short
// (kCacheBriefly) for a root of buckets and its buckets, because this process does not tell the
// kernel that a driver has created a bucket. It is also short for the directories of the control
// directory. It is 0 for the files of the control directory.
inline constexpr double kCacheForever = 365.0 * 86400;
inline constexpr double kCacheBriefly = 1;

// A node's attributes for the kernel, and how long the kernel may cache them.
struct EntryReply {
  uint64_t ino = 0;
  gridfs::Attributes attributes;
  double cache_seconds = 0;
  bool attributes_pass = false;  // true: the kernel must not cache the attributes
};

// An open file, owned by the FileSystem until release().
//
// file() and set_file() are thread-safe. All fields except `current` are atomic, or do not change
// after open.
struct FileHandle {
  ~FileHandle();

  // Returns the file that this handle reads and writes now. set_file() replaces it when the content
  // becomes an earlier revision, because the name then gets another files document.
  std::shared_ptr<gridfs::File> file() const GM_EXCLUDES(mutex) {
    MutexLock lock(mutex);
    return current;
  }
  void set_file(std::shared_ptr<gridfs::File> file) GM_EXCLUDES(mutex) {
    MutexLock lock(mutex);
    current.swap(file);
  }

  uint64_t ino = 0;
  std::shared_ptr<MountedBucket> bucket;
  std::shared_ptr<gridfs::PathNamespace> paths;  // outlives the file
  bool for_writing = false;                      // only such a handle gets the errors of writes
  bool is_control = false;
  bool counts_as_reading = false;  // reads by this handle change the file's atime
  std::atomic<bool> was_read{false};
  std::atomic<bool> was_closed{false};       // at least one of its file descriptors was closed
  std::atomic<uint32_t> writes_expected{0};  // calls of expect_room() by this handle
  // Set for a generated file of the control directory, which is not stored. In this case `current`
  // is null.
  std::shared_ptr<const GeneratedFile> generated;
  mutable Mutex mutex;
  std::shared_ptr<gridfs::File> current GM_GUARDED_BY(mutex);
};

class FileSystem {
 public:
  // `root_bucket` is shown at the root. If it is null, the root lists the buckets. `buckets` must
  // outlive this object.
  FileSystem(Buckets& buckets, std::shared_ptr<MountedBucket> root_bucket);
  ~FileSystem();

  // --- Names. Each returned EntryReply counts as one lookup, which forget() subtracts.
  Result<EntryReply> lookup(uint64_t parent, std::string_view name);
  // Returns the node with that ino. If the kernel has forgotten the node, reads the documents of
  // directories and files until one has the ino. Fails with NoSuchEntry if there is no such node.
  Result<EntryReply> lookup_ino(uint64_t ino);
  // Returns the parent of a directory that the kernel knows. Fails with NotADirectory for a file,
  // and with NoSuchEntry if the directory has been removed.
  Result<EntryReply> lookup_parent(uint64_t ino);
  // Returns how many seconds the kernel may remember that a name does not exist in the directory
  // `parent`.
  double absence_seconds(uint64_t parent) const;
  void forget(uint64_t ino, uint64_t lookups) { table_.forget(ino, lookups); }
  Result<EntryReply> mkdir(uint64_t parent, std::string_view name, uint32_t mode,
                           gridfs::Creator creator);
  Result<EntryReply> create_file(uint64_t parent, std::string_view name, uint32_t mode,
                                 gridfs::Creator creator);
  // Creates a pipe, socket or device. `mode` also has the type of the node.
  Result<EntryReply> mknod(uint64_t parent, std::string_view name, uint32_t mode, uint64_t rdev,
                           gridfs::Creator creator);
  Result<EntryReply> symlink(uint64_t parent, std::string_view name, std::string_view target,
                             gridfs::Creator creator);
  Result<EntryReply> link(uint64_t ino, uint64_t parent, std::string_view name);
  Status unlink(uint64_t parent, std::string_view name);
  Status rmdir(uint64_t parent, std::string_view name);
  // The creator of the whiteout that a rename leaves at the old path
  // (PathNamespace::rename_leaving_whiteout()). Unset if the rename leaves no whiteout.
  using Whiteout = std::optional<gridfs::Creator>;
  Status rename(uint64_t from_parent, std::string_view from_name, uint64_t to_parent,
                std::string_view to_name, gridfs::RenameMode mode, const Whiteout& whiteout);

  // --- Directories that are being moved (directory_moves.h). Operations inside such a directory
  // and operations that change paths wait for the end of the move.
  bool moves_any() const { return moves_.any(); }
  bool is_moving(uint64_t ino) const { return moves_.moves(ino); }
  void wait_for_moves() { moves_.wait(); }

  // --- Attributes. `file` is the handle with which the program makes the request, or null if the
  // program uses a path. These functions count no lookup.
  Result<EntryReply> getattr(uint64_t ino, const FileHandle* file);
  Result<EntryReply> setattr(uint64_t ino, const FileHandle* file,
                             const gridfs::AttributeChanges& changes);
  Result<std::string> readlink(uint64_t ino);

  // Returns true if others change the store too. In this case the kernel may cache only for a
  // limited time, and must not collect writes.
  bool is_shared() const { return buckets_.settings().cache_time.has_value(); }
  // Returns how many seconds the kernel may cache a node of a bucket.
  double node_cache_seconds() const {
    const auto& time = buckets_.settings().cache_time;
    return time ? std::chrono::duration<double>(*time).count() : kCacheForever;
  }
  // Returns for how long the daemon may reply with attributes of a directory that it has written
  // itself, without reading the store (gridfs/namespace/seen_directories.h). This is a tenth of
  // `cache_time`, but at most 100 ms, and 0 for a store that nobody else changes.
  static std::chrono::milliseconds directory_age_max(
      const std::optional<std::chrono::milliseconds>& cache_time) {
    return cache_time ? std::min(*cache_time / 10, std::chrono::milliseconds(100))
                      : std::chrono::milliseconds(0);
  }
  // Returns kKeep if the kernel collects writes, because the kernel then also sends the times.
  gridfs::TimeUpdate time_update() const {
    return is_shared() ? gridfs::TimeUpdate::kNow : gridfs::TimeUpdate::kKeep;
  }

  // Must be called only for a shared store, after the file was opened or committed. Records that
  // the kernel has, or will have, the present content of the file. Returns true if the same content
  // was recorded before, so that the kernel may keep its cache.
  bool record_cached_content(const FileHandle& file) {
    return seen_contents_.record(file.ino, file.file()->document().upload_date);
  }

  // Returns true if each read changes atime. The kernel must then send every read.
  bool needs_every_read() const { return buckets_.settings().paths.strict_access_times; }

  // Returns true if the kernel must check access control lists.
  bool keeps_access_lists() const { return buckets_.settings().paths.access_lists; }

  // --- Extended attributes. Functions that take a name fail with kNotSupported for an xattr
  // namespace that is not stored, and with kInvalidArgument for a name such as "user.". getxattr()
  // and removexattr() fail with NoSuchXattr if there is no such attribute. But the removal of an
  // access control list that does not exist succeeds. setxattr() fails as with_xattr()
  // (gridfs/bucket/posix_changes.h) does.
  Result<std::string> getxattr(uint64_t ino, std::string_view name);
  Result<std::vector<std::string>> listxattr(uint64_t ino);
  // If a process that is not in the file's group sets an access control list, setxattr() also
  // removes the set-group-ID bit, as chmod(2) does. `may_keep_group_id` must not be null.
  using GroupCheck = gridfs::GroupCheck;
  Status setxattr(uint64_t ino, std::string_view name, std::string_view value,
                  gridfs::XattrMode mode, const GroupCheck& may_keep_group_id);
  Status removexattr(uint64_t ino, std::string_view name);

  // --- Files. `flags` are those of open(2).
  Result<FileHandle*> open(uint64_t ino, int flags);
  // Creates and opens a file. If the file exists, opens it, or fails with EntryExists if `flags`
  // has O_EXCL.
  Result<std::pair<EntryReply, FileHandle*>> create(uint64_t parent, std::string_view name,
                                                    uint32_t mode, int flags,
                                                    gridfs::Creator creator);
  // Creates a tmpfile (O_TMPFILE), which has no name until link() gives it one.
  Result<std::pair<EntryReply, FileHandle*>> create_tmpfile(uint64_t parent, uint32_t mode,
                                                            int flags, gridfs::Creator creator);
  // Destroys the handle. Must be called once for each handle, and the handle must not be used
  // afterwards.
  void release(FileHandle* file);
  // Must be called when a process closes one of the handle's file descriptors (kByOne), and when
  // the last of them is closed (kByAll). The kernel does not report reads from its cache, so the
  // close of a handle that was open only for reading counts as a read. If needs_every_read() is
  // true, the kernel reports all reads, and the close counts only if there was a read. Returns true
  // if the file's atime has changed, and so the attributes in the kernel's cache are wrong.
  enum class Closing { kByOne, kByAll };
  bool record_close(FileHandle& file, Closing closing);
  // The result keeps the bytes alive. `file` must outlive the result.
  Result<gridfs::ReadResult> read(FileHandle& file, int64_t offset, size_t size);
  // Changes the times only in a shared store, because otherwise the kernel sends the times
  // (time_update()). Does not handle O_APPEND, because the kernel chooses the offset before it
  // sends the write (SEMANTICS.md). If free space is short, first calls File::expect_room().
  Status write(FileHandle& file, int64_t offset, std::span<const uint8_t> bytes);
  Status fsync(FileHandle& file);
  // See gridfs::without_set_id() (posix_changes.h).
  Status clear_set_id(FileHandle& file, const GroupCheck& may_keep_group_id);
  // Does what fallocate(2) does. Checks the free space, but reserves no space. The allocated range
  // is a hole that counts in st_blocks. Fails with OutOfDiskSpace, with FileTooLarge beyond
  // max_file_bytes(), and with kNotSupported if `mode` has flags other than KEEP_SIZE, PUNCH_HOLE
  // and ZERO_RANGE, or has PUNCH_HOLE without KEEP_SIZE or with ZERO_RANGE.
  Status fallocate(FileHandle& file, int mode, int64_t offset, int64_t size);
  // Does what lseek(2) does with SEEK_DATA or SEEK_HOLE. Ignores writes that the kernel has not
  // sent yet. Fails with kNoSuchOffset if `offset` is negative or not before the end of the file,
  // or if SEEK_DATA finds no data.
  Result<int64_t> lseek(FileHandle& file, int64_t offset, int whence);
  // Returns true if the file has a handle that is open for writing.
  bool is_open_for_writing(uint64_t ino) const;
  // Like is_open_for_writing(), but ignores handles of which a file descriptor was closed. The
  // kernel releases a handle some time after the last close(2) has returned.
  bool will_be_closed(uint64_t ino) const;

  // --- Free space (room_watch.h).
  //
  // Returns true if the kernel must drop the file's attributes, so that the kernel asks for them
  // before the next write(2). Whenever free space becomes scarce, returns true once for each file
  // that is open for writing.
  bool begins_to_ask(uint64_t ino);
  // How long the kernel may keep the attributes of a node. Before a write(2), the kernel asks for
  // the attributes if it no longer has them.
  enum class WriterCache {
    kUsual,  // free space is not scarce, or nobody writes to the node
    kShort,  // free space is scarce: for some milliseconds, in which little can be written
    kNone,   // free space is short, which is less than scarce (room_watch.h)
  };
  WriterCache writer_cache(uint64_t ino) const;
  // Returns true if a request for attributes by this handle must wait for expect_room().
  bool expects_room(const FileHandle& file) const {
    return file.for_writing && !file.is_control && room_.is_short();
  }
  // Must be called before a write(2) with the handle. Fails with OutOfDiskSpace if there is no room
  // for what was written before. `write_back` must make the kernel write back the file, and wait
  // until this is done. Every 16th call with the same handle calls `write_back`.
  Status expect_room(FileHandle& file, const std::function<void()>& write_back);

  // Does what copy_file_range(2) does. Returns the number of bytes that were copied. The number is
  // less than `size` if `from` ends earlier, if `size` is above 64 MiB, or if an error occurs after
  // some bytes. Fails with kNotSupported if `from` is a generated file.
  Result<int64_t> copy_file_range(FileHandle& from, int64_t offset, FileHandle& to,
                                  int64_t to_offset, int64_t size);

  // --- Directories.
  //
  // `flags` are those of open(2).
  Result<DirectoryHandle*> opendir(uint64_t ino, int flags);
  void releasedir(DirectoryHandle* directory);
  // Receives the entries of a listing. `ino` is the entry's ino as stat(2) shows it.
  class Lister {
   public:
    virtual ~Lister() = default;
    // Must return false if there is no room for an entry with the name. readdir() then returns.
    virtual bool fits(std::string_view name) = 0;
    // Must add the entry, for which fits() has returned true. If `entry` is null, the kernel gets
    // only ino and type. Otherwise the entry counts as a lookup.
    virtual void add(const ListedEntry& listed, uint64_t ino, uint32_t type,
                     const EntryReply* entry) = 0;
  };
  // Lists entries from `offset` on until the lister has no room or the directory ends. With
  // `lookup_each`, gives add() the EntryReply of each entry, except for ".", "..", buckets, and
  // entries of the control directory. After the first entry, an error only ends this call. The next
  // call fails with the error if the error persists.
  Status readdir(DirectoryHandle& directory, uint64_t offset, bool lookup_each, Lister& lister);

  // --- External changes.
  //
  // Returns what must be invalidated in the kernel's cache. The caller must tell the kernel. While
  // the caller does so, it must hold no lock of this class, because the kernel waits for operations
  // that may need these locks.
  StaleEntries changed_externally(const ExternalChanges& changes);
  // Like changed_externally(), for the reports of a change stream over a shared store. Reads the
  // store only if everything in a bucket may have changed.
  StaleEntries changed_by_others(const FollowedChanges& changes);
  // Returns the number of calls of changed_by_others(). If the number has grown while a request was
  // answered, the kernel must not cache the answer. The answer may be older than the changes for
  // which the kernel was told to drop its cache.
  uint64_t changes_noted() const { return changes_noted_; }

  // --- The control directory (control_directory.h).
  //
  // Must be called before the first request of the kernel.
  void set_statistics(ControlDirectory::Text text) { control_.set_text(std::move(text)); }

  // --- The whole mount.
  Result<engine::StoreStats> statfs();
  Status make_durable();
  // Releases all handles, commits and closes all buckets, and makes everything durable. Returns the
  // first error. While this function runs and afterwards, no other function may be called, except
  // changed_externally() and changed_by_others(). close() waits for calls of these two functions
  // that have begun before. Later calls return nothing.
  Status close();

 private:
  struct Directory {
    ResolvedNode node;
    std::shared_ptr<gridfs::PathNamespace> paths;
  };

  // A bucket that others have changed, and the ino of its root.
  struct ChangedBucket {
    uint64_t root;
    std::shared_ptr<MountedBucket> bucket;
  };
  void notify_namespace(const std::string& bucket, const BucketChanges& changes);
  // Returns nothing if the kernel does not know the bucket.
  std::optional<ChangedBucket> find_changed(const std::string& name) const;
  void add_stale_path(const ChangedBucket& changed, gridfs::PathNamespace& paths,
                      std::string_view path, StaleEntries& stale) const;
  void add_all_stale(const ChangedBucket& changed,
                     const std::shared_ptr<gridfs::PathNamespace>& paths, StaleEntries& stale);

  // Used only for a shared store. Adds those entries of one bucket that changes by others have made
  // stale.
  void add_changes_by_others(const std::string& name, const BucketChanges& changes,
                             StaleEntries& stale);
  void add_changed_documents(const ChangedBucket& changed, const BucketChanges& changes,
                             StaleEntries& stale) const;
  // Adds a path that still exists but now leads to another node.
  void add_path_of_others(uint64_t root, std::string_view path, StaleEntries& stale) const;
  // Adds a name that may have vanished.
  void add_vanished(const ShownName& name, StaleEntries& stale) const;
  // Adds a directory without a document that may have vanished.
  void add_implied(const InodeTable::ImpliedDirectory& implied, StaleEntries& stale) const;

  // Returns true if the table must know the names of files, because they cannot be found out after
  // a change. Over a shared store, an event names a document, but not its former names. If the root
  // of the mount is a bucket, it has no name that the kernel could drop. Otherwise the kernel drops
  // the name of the directory, which covers all names in it.
  bool notes_file_names() const { return is_shared() || has_root_bucket_; }

  Result<ResolvedNode> resolve(uint64_t ino) const;
  // Returns a directory of a bucket. Fails with NotADirectory for a file, with NoSuchEntry for a
  // removed directory, with StoreReadOnly for the control directory, and with kNotPermitted for a
  // root of buckets. The message of kNotPermitted has the text `purpose`, such as "a file".
  Result<Directory> directory(uint64_t ino, std::string_view purpose) const;

  // Counts the lookup.
  Result<EntryReply> control_entry(const ResolvedNode& parent, std::string_view name,
                                   std::string_view path);
  Result<EntryReply> control_attributes(const ResolvedNode& node, const FileHandle* file) const;
  Result<FileHandle*> open_control(const ResolvedNode& node, int flags);
  // Counts the lookup.
  Result<EntryReply> bucket_entry(std::string_view name,
                                  const std::shared_ptr<MountedBucket>& bucket);
  KnownWithoutXattrs::Moment moment() const {
    return {changes_noted_ + xattrs_changed_, KnownWithoutXattrs::Clock::now()};
  }
  // Records whether `node`, which was read after `before`, has extended attributes.
  void note_xattrs(uint64_t ino, const gridfs::Node& node,
                   const KnownWithoutXattrs::Moment& before) {
    without_xattrs_.note(ino, node.has_xattrs, before);
  }
  bool is_known_without_xattrs(uint64_t ino) const {
    using Duration = KnownWithoutXattrs::Clock::duration;
    const std::optional<std::chrono::milliseconds> limit = buckets_.settings().cache_time;
    return without_xattrs_.contains(ino, moment(), limit ? Duration(*limit) : Duration::max());
  }
  // Counts the lookup.
  Result<EntryReply> entry_of(const ResolvedNode& parent, std::string_view name,
                              const gridfs::Node& node);
  double cache_seconds(const ResolvedNode& node) const;
  // Returns how long the kernel may cache the attributes of a root of buckets, and what a look-up
  // of a bucket in it returns.
  double bucket_cache_seconds() const { return std::min(kCacheBriefly, node_cache_seconds()); }
  EntryReply entry_of_file(const ResolvedNode& node, const gridfs::Node& file) const;
  Result<EntryReply> file_attributes(const ResolvedNode& node, const gridfs::File* file) const;
  // Get and set those extended attributes that are fields of the files document ("user.gridfs.").
  Result<std::string> field(uint64_t ino, std::string_view name);
  Status set_field(uint64_t ino, std::string_view name, std::optional<std::string_view> text,
                   gridfs::XattrMode mode);
  // Returns the fields of any node, even of an open file without a name.
  Result<gridfs::PosixFields> posix_of(uint64_t ino);
  // Changes the fields of any node. After the change, what KnownWithoutXattrs has noted earlier no
  // longer counts.
  Status change_posix(uint64_t ino, const gridfs::PosixChange& change);
  Status write_posix(uint64_t ino, const gridfs::PosixChange& change);
  Result<UnlinkedNode> unlinked_node(uint64_t ino) const;
  // Like change_posix() and setattr(2), for a node that has lost its last name and has no open
  // file.
  Status change_unlinked(uint64_t ino, const gridfs::PosixChange& change)
      GM_EXCLUDES(unlinked_mutex_);
  Result<EntryReply> setattr_unlinked(uint64_t ino, const gridfs::AttributeChanges& changes)
      GM_EXCLUDES(unlinked_mutex_);
  // If the file has lost its last name, stores its state in the table, for requests without a
  // handle.
  void record_changed(const ResolvedNode& node, const gridfs::File& file);
  Result<std::string> link_target(const ResolvedNode& node);
  // Sets `existed` to true if somebody has created the file since the kernel looked up the name.
  Result<std::pair<EntryReply, FileHandle*>> create_or_open(uint64_t parent, std::string_view name,
                                                            uint32_t mode, int flags,
                                                            gridfs::Creator creator, bool& existed);
  // Returns true if the node is known to have no document, so that setattr_unlinked() can make the
  // changes without a search in the store. Always false if `changes` sets an attribute other than
  // mtime and ctime.
  bool is_without_document(const ResolvedNode& node, const gridfs::AttributeChanges& changes) const;
  bool keeps_revisions() const { return buckets_.settings().paths.revisions > 0; }
  // Keeps the content of a file as an earlier revision. Must be called before the file is truncated
  // to nothing. The node and its handles then have another files document.
  Status start_revision(uint64_t ino);
  Result<FileHandle*> open_file(uint64_t ino, const std::shared_ptr<MountedBucket>& bucket,
                                const std::shared_ptr<gridfs::PathNamespace>& paths,
                                bson::ValueView id, int flags,
                                std::shared_ptr<gridfs::File> opened = nullptr);

  // Adds the handle to the open files.
  FileHandle* add_open(std::unique_ptr<FileHandle> handle) GM_EXCLUDES(handles_mutex_);

  Status rename_bucket(std::string_view from, std::string_view to, gridfs::RenameMode mode)
      GM_REQUIRES(tree_mutex_);
  bool moves_directory(uint64_t from_parent, std::string_view from_name, uint64_t to_parent,
                       std::string_view to_name, gridfs::RenameMode mode) const;
  // Records that a file has lost a name. This may have been its last name.
  void record_removed_name(const Directory& in, gridfs::RemovedName last);
  // Returns the state of a directory that is about to be removed.
  static Result<UnlinkedNode> last_of(gridfs::PathNamespace& paths, const gridfs::Node& directory);
  Status rename_in(const Directory& from, std::string_view from_name, const Directory& to,
                   std::string_view to_name, gridfs::RenameMode mode, const Whiteout& whiteout);
  // A rename that moves directories, and their inos if they are in the table.
  struct MovedNames {
    Directory from;
    std::string from_name;
    Directory to;
    std::string to_name;
    gridfs::RenameMode mode;
    Whiteout whiteout;
    std::optional<uint64_t> one;    // the directory `from_name`
    std::optional<uint64_t> other;  // the directory `to_name`
    UnlinkedNode replaced;          // the state of `other` before the rename replaces it
  };
  // Does the move in the store. The caller must not hold the tree lock exclusively, because the
  // move may take long.
  Status move_in_store(MovedNames& names);
  // Updates the table after move_in_store().
  Status move_in_table(const MovedNames& names) GM_REQUIRES(tree_mutex_);
  void exchange_in_table(const MovedNames& names) GM_REQUIRES(tree_mutex_);
  // Returns the EntryReply for a lookup that is already counted. Subtracts that lookup on an error.
  Result<EntryReply> acquired(uint64_t ino);
  // Puts the node with that ino into the table and counts the lookup. Returns its ino in the
  // table, or 0 if there is no such node.
  Result<uint64_t> find_ino(uint64_t ino);
  Result<uint64_t> find_ino_in(const std::shared_ptr<MountedBucket>& bucket, uint64_t top,
                               uint64_t ino);
  Result<uint64_t> acquire_path(gridfs::PathNamespace& paths, uint64_t top,
                                const std::string& path);
  Result<std::vector<std::string>> shown_bucket_names() const;
  void touch_mount_root();

  // The handles of one file that are open for writing.
  struct Writers {
    uint64_t open = 0;
    uint64_t not_closed = 0;  // the open handles whose `was_closed` is false
    uint64_t asked_in = 0;    // RoomWatch::episode() when begins_to_ask() last returned true
  };
  void record_writer_closed(FileHandle& file);

  Buckets& buckets_;
  const bool has_root_bucket_;
  ControlDirectory control_;
  mutable SharedMutex tree_mutex_;
  bool is_closed_ GM_GUARDED_BY(tree_mutex_) = false;
  InodeTable table_;
  DirectoryMoves moves_{tree_mutex_, table_};
  NlinkRaceGuard nlink_race_guard_;
  // Held while the state of an unlinked node (UnlinkedNode) is changed. Taken before the table's
  // lock.
  Mutex unlinked_mutex_;
  RoomWatch room_;
  SeenContents seen_contents_;
  std::atomic<uint64_t> changes_noted_{0};
  KnownWithoutXattrs without_xattrs_;
  std::atomic<uint64_t> xattrs_changed_{0};  // by this mount or by its clients

  mutable Mutex handles_mutex_;
  std::unordered_set<FileHandle*> open_files_ GM_GUARDED_BY(handles_mutex_);
  // The files that are open for writing, by ino.
  std::unordered_map<uint64_t, Writers> writers_ GM_GUARDED_BY(handles_mutex_);
  std::unordered_set<DirectoryHandle*> open_directories_ GM_GUARDED_BY(handles_mutex_);
  timespec mount_root_changed_ GM_GUARDED_BY(handles_mutex_);
};

}  // namespace gridmount::fuse
