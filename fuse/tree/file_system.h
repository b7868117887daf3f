// The mounted tree: what each call of the kernel does, over the buckets' Volumes, free of libfuse.
//
// The root lists the buckets, or is one bucket. mkdir, rmdir and rename in a root of buckets make,
// drop and rename buckets; anything else there is refused with kNotPermitted, because a GridFS file
// belongs to a bucket and no document describes the root.
//
// Locks, in this order:
//  1. tree lock: shared by every call that uses a path or a bucket, exclusive for those that change
//     the path of folders (renaming one), retire a bucket, or make another files document a file's
//     content. It is held over the store's work on purpose: between making a path from the table
//     and using it, the path must not change. Renaming a folder, which may take long, holds it
//     exclusively before and after the store's work only (folder_moves.h).
//  2. OpenDirectory::mutex()
//  3. Buckets' and a MountedBucket's
//  4. That of what lost nodes leave.
//  5. InodeTable's, the handles': leaves.
// Reading and writing open files takes none of them.
//
// Thread-safety: thread-safe. Every operation but forget may fail with the error of a lower layer
// or one of errno.h.
#pragma once

#include <atomic>
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
#include "fuse/tree/bucket_views.h"
#include "fuse/tree/buckets.h"
#include "fuse/tree/folder_moves.h"
#include "fuse/tree/foreign_changes.h"
#include "fuse/tree/inode_table.h"
#include "fuse/tree/kernel_cache.h"
#include "fuse/tree/lost_names.h"
#include "fuse/tree/open_directory.h"
#include "fuse/tree/room_watch.h"

namespace gridmount::fuse {

// What the kernel is told about a node, and for how long it need not ask again. This process is the
// only writer, and the kernel itself drops what its own calls change, so that is practically for
// ever; except in a root of buckets, which others may extend.
inline constexpr double kCacheForever = 365.0 * 86400;
inline constexpr double kCacheBriefly = 1;

struct Entry {
  uint64_t number = 0;
  gridfs::Attributes attributes;
  double cache_seconds = 0;
  bool attributes_pass = false;  // those are not to be kept at all
};

// An open file, owned by the FileSystem until release().
//
// Thread-safety: file() and go_on_with() are thread-safe; the rest does not change.
struct OpenFile {
  ~OpenFile();

  // What is read and written now: with its content a file may become another one.
  std::shared_ptr<gridfs::File> file() const GM_EXCLUDES(mutex) {
    MutexLock lock(mutex);
    return current;
  }
  void go_on_with(std::shared_ptr<gridfs::File> file) GM_EXCLUDES(mutex) {
    MutexLock lock(mutex);
    current.swap(file);
  }

  uint64_t number = 0;
  std::shared_ptr<MountedBucket> bucket;
  std::shared_ptr<gridfs::Volume> volume;  // outlives the file
  bool for_writing = false;                // others' failed writes are not told to readers
  bool is_view = false;
  bool counts_as_reading = false;  // reading by it changes the file's atime
  std::atomic<bool> was_read{false};
  std::atomic<bool> was_closed{false};       // by one of those who have it
  std::atomic<uint32_t> writes_expected{0};  // while room was short
  // Of a view that is no file's content: there is no file then.
  std::shared_ptr<const MadeUpFile> made_up;
  mutable Mutex mutex;
  std::shared_ptr<gridfs::File> current GM_GUARDED_BY(mutex);
};

class FileSystem {
 public:
  // `root_bucket` is shown at the root; null: the root lists the buckets. `buckets` must outlive
  // this object.
  FileSystem(Buckets& buckets, std::shared_ptr<MountedBucket> root_bucket);
  ~FileSystem();

  // --- Names. An Entry returned counts as one lookup, which forget() takes back.
  Result<Entry> lookup(uint64_t parent, std::string_view name);
  // A node by its number, also if the kernel has forgotten it: NoSuchEntry. Costs a look at each
  // files document then. And the folder that one is in.
  Result<Entry> lookup_number(uint64_t number);
  Result<Entry> lookup_parent(uint64_t number);
  // How long the kernel may remember that a name is not there.
  double absence_seconds(uint64_t parent) const;
  void forget(uint64_t number, uint64_t lookups) { table_.forget(number, lookups); }
  Result<Entry> make_directory(uint64_t parent, std::string_view name, uint32_t mode,
                               gridfs::Creator creator);
  Result<Entry> make_file(uint64_t parent, std::string_view name, uint32_t mode,
                          gridfs::Creator creator);
  // A pipe, socket or device; `mode` also holds its type.
  Result<Entry> make_special(uint64_t parent, std::string_view name, uint32_t mode, uint64_t rdev,
                             gridfs::Creator creator);
  Result<Entry> make_symlink(uint64_t parent, std::string_view name, std::string_view target,
                             gridfs::Creator creator);
  Result<Entry> link(uint64_t number, uint64_t parent, std::string_view name);
  Status unlink(uint64_t parent, std::string_view name);
  Status remove_directory(uint64_t parent, std::string_view name);
  // Whether in the old place a whiteout stays, and by whom: Volume::rename_leaving_whiteout().
  using Whiteout = std::optional<gridfs::Creator>;
  Status rename(uint64_t from_parent, std::string_view from_name, uint64_t to_parent,
                std::string_view to_name, gridfs::RenameMode mode, const Whiteout& whiteout);

  // --- Folders that are being moved (folder_moves.h): who asks for something in one waits, and so
  // does who changes the store.
  bool moves_any() const { return moves_.any(); }
  bool is_moving(uint64_t number) const { return moves_.moves(number); }
  void wait_for_moves() { moves_.wait(); }

  // --- Attributes. `file` is the handle the call came with, or null. No lookup is counted.
  Result<Entry> attributes(uint64_t number, const OpenFile* file);
  Result<Entry> set_attributes(uint64_t number, const OpenFile* file,
                               const gridfs::AttributeChanges& changes);
  Result<std::string> read_link(uint64_t number);

  // Whether each reading changes atime, so that the kernel must ask for all that is read.
  bool tells_each_reading() const { return buckets_.settings().volume.strict_access_times; }

  // Whether the kernel shall check access control lists.
  bool keeps_access_lists() const { return buckets_.settings().volume.access_lists; }

  // --- Extended attributes. NoSuchXattr, kNotSupported for a namespace that is not kept.
  Result<std::string> xattr(uint64_t number, std::string_view name);
  Result<std::vector<std::string>> xattr_names(uint64_t number);
  // Who is not in the file's group loses the set-group-ID bit with a new access control list, as
  // with chmod(2).
  using GroupCheck = gridfs::GroupCheck;
  Status set_xattr(uint64_t number, std::string_view name, std::string_view value,
                   gridfs::XattrMode mode, const GroupCheck& may_keep_group_id);
  Status remove_xattr(uint64_t number, std::string_view name);

  // --- Files. `flags` are open(2)'s.
  Result<OpenFile*> open(uint64_t number, int flags);
  // With O_EXCL an existing file is EntryExists, else it is opened.
  Result<std::pair<Entry, OpenFile*>> create(uint64_t parent, std::string_view name, uint32_t mode,
                                             int flags, gridfs::Creator creator);
  // A file that has no name unless link() gives it one (O_TMPFILE).
  Result<std::pair<Entry, OpenFile*>> create_nameless(uint64_t parent, uint32_t mode, int flags,
                                                      gridfs::Creator creator);
  void release(OpenFile* file);
  // One of those who have the handle closes it, or all of them have. What was read from the
  // kernel's cache it has not told: so who closes a file that was open for reading alone has read
  // it. Whether the kernel's attributes of the file are wrong by that.
  enum class Closing { kByOne, kByAll };
  bool note_close(OpenFile& file, Closing closing);
  // Holds what it points to until it goes; `file` must outlive it.
  Result<gridfs::ReadResult> read(OpenFile& file, int64_t offset, size_t size);
  // Its times stay: the kernel sends them. Where room is short, what was written before is
  // committed first.
  Status write(OpenFile& file, int64_t offset, std::span<const uint8_t> bytes);
  Status sync(OpenFile& file);
  // As gridfs::without_set_id() (posix_changes.h).
  Status clear_set_id(OpenFile& file, const GroupCheck& may_keep_group_id);
  // fallocate(2). Space is looked for, and not kept: what is allocated is a hole that counts.
  Status allocate(OpenFile& file, int mode, int64_t offset, int64_t size);
  // lseek(2) with SEEK_DATA or SEEK_HOLE: of what has been written to this object.
  Result<int64_t> seek(OpenFile& file, int64_t offset, int whence);
  bool is_open_for_writing(uint64_t number) const;
  // The same, and not closed yet by any of those who have the handle: the kernel tells of the last
  // of them only some time after close(2) has returned.
  bool will_be_closed(uint64_t number) const;

  // --- Room (room_watch.h).
  // Whether the kernel has to forget the file's attributes, so that it asks before the next
  // write(2).
  bool begins_to_ask(uint64_t number);
  // The attributes of the node are not for the kernel to keep, as it is to ask.
  bool asks_before_writing(uint64_t number) const {
    return room_.is_scarce() && is_open_for_writing(number);
  }
  // Asking for attributes by the handle waits for expect_room().
  bool expects_room(const OpenFile& file) const {
    return file.for_writing && !file.is_view && room_.is_short();
  }
  // Before a write(2) by the handle: OutOfDiskSpace if there is none for what was written before.
  // `hand_over` has the kernel hand over what it holds of the file, and waits for it.
  Status expect_room(OpenFile& file, const std::function<void()>& hand_over);

  // copy_file_range(2): how many bytes were copied, fewer than asked for at the end of `from`, in
  // long calls and before an error.
  Result<int64_t> copy(OpenFile& from, int64_t offset, OpenFile& to, int64_t to_offset,
                       int64_t size);

  // --- Folders.
  // `flags` are open(2)'s.
  Result<OpenDirectory*> open_directory(uint64_t number, int flags);
  void release(OpenDirectory* directory);
  // What the lister does with an entry. `number` is the entry's as stat would show it.
  class Lister {
   public:
    virtual ~Lister() = default;
    // Whether an entry of that name fits; if not, the listing ends there for now.
    virtual bool fits(std::string_view name) = 0;
    // The entry, which fits. `entry` is null where the kernel shall learn no more than the number
    // and type; otherwise it counts as a lookup.
    virtual void add(const ListedEntry& listed, uint64_t number, uint32_t type,
                     const Entry* entry) = 0;
  };
  // From `offset` on until the lister has no room or the folder ends. With `lookup_each`, entries
  // come as Entry. An error after the first entry ends the listing there; the next call meets it.
  Status read_directory(OpenDirectory& directory, uint64_t offset, bool lookup_each,
                        Lister& lister);

  // --- Changes by others. What the kernel has to forget after them; returned rather than done
  // here, because the kernel waits for operations that may wait for our locks.
  StaleEntries changed_by_others(const ForeignChanges& changes);

  // --- Views (bucket_views.h).
  // Before the mount answers.
  void set_statistics(BucketViews::Text text) { views_.set_text(std::move(text)); }

  // --- The whole.
  Result<engine::StoreStats> stats();
  Status make_durable();
  // Lets go of all handles, commits and closes all buckets, and makes everything durable. The first
  // error. Nothing else may be called afterwards.
  Status close();

 private:
  struct Folder {
    ResolvedNode node;
    std::shared_ptr<gridfs::Volume> volume;
  };

  // A bucket that others have changed, and its root's number.
  struct ChangedBucket {
    uint64_t root;
    std::shared_ptr<MountedBucket> bucket;
  };
  void tell_volume(const std::string& bucket, const BucketChanges& changes);
  // Nothing if the kernel knows nothing of it.
  std::optional<ChangedBucket> find_changed(const std::string& name) const;
  void add_stale_path(const ChangedBucket& changed, gridfs::Volume& volume, std::string_view path,
                      StaleEntries& stale) const;
  void add_all_stale(const ChangedBucket& changed, gridfs::Volume& volume, StaleEntries& stale);

  Result<ResolvedNode> resolve(uint64_t number) const;
  // A folder of a bucket that still has a path. kNotPermitted for a root of buckets.
  Result<Folder> folder(uint64_t number, std::string_view purpose) const;

  // Counts the lookup.
  Result<Entry> view_entry(const ResolvedNode& parent, std::string_view name,
                           std::string_view path);
  Result<Entry> view_attributes(const ResolvedNode& node, const OpenFile* file) const;
  Result<OpenFile*> open_view(const ResolvedNode& node, int flags);
  Result<Entry> bucket_entry(std::string_view name, const std::shared_ptr<MountedBucket>& bucket);
  // Counts the lookup.
  Result<Entry> entry_of(const ResolvedNode& parent, std::string_view name,
                         const gridfs::Node& node);
  Entry entry_of_file(const ResolvedNode& node, const gridfs::Node& file) const;
  Result<Entry> file_attributes(const ResolvedNode& node, const gridfs::File* file) const;
  // Extended attributes that are fields of the files document.
  Result<std::string> field(uint64_t number, std::string_view name);
  Status set_field(uint64_t number, std::string_view name, std::optional<std::string_view> text,
                   gridfs::XattrMode mode);
  // Of any node, also of a file without a name that is open.
  Result<gridfs::PosixFields> posix_of(uint64_t number);
  Status change_posix(uint64_t number, const gridfs::PosixChange& change);
  Result<LostNode> lost_node(uint64_t number) const;
  // The same, and setattr(2), of a node that has lost its last name, without an open file.
  Status change_lost(uint64_t number, const gridfs::PosixChange& change) GM_EXCLUDES(lost_mutex_);
  Result<Entry> set_lost_attributes(uint64_t number, const gridfs::AttributeChanges& changes)
      GM_EXCLUDES(lost_mutex_);
  // Of one that is open: whoever holds it later finds it as it is now.
  void note_changed(const ResolvedNode& node, const gridfs::File& file);
  Result<std::string> link_target(const ResolvedNode& node);
  // `existed`: the file was there, which the kernel did not know.
  Result<std::pair<Entry, OpenFile*>> create_or_open(uint64_t parent, std::string_view name,
                                                     uint32_t mode, int flags,
                                                     gridfs::Creator creator, bool& existed);
  bool keeps_revisions() const { return buckets_.settings().volume.revisions > 0; }
  // Before the file is emptied: what it has becomes an earlier revision, and the node and whoever
  // has it open go on with another files document.
  Status start_revision(uint64_t number);
  Result<OpenFile*> open_file(uint64_t number, const std::shared_ptr<MountedBucket>& bucket,
                              const std::shared_ptr<gridfs::Volume>& volume, bson::ValueView id,
                              int flags);

  // The handle becomes one of the open files.
  OpenFile* add_open(std::unique_ptr<OpenFile> handle) GM_EXCLUDES(handles_mutex_);

  Status rename_bucket(std::string_view from, std::string_view to, gridfs::RenameMode mode)
      GM_REQUIRES(tree_mutex_);
  bool moves_folder(uint64_t from_parent, std::string_view from_name, uint64_t to_parent,
                    std::string_view to_name, gridfs::RenameMode mode) const;
  // Of a file that may have lost its last.
  void note_lost_name(const Folder& in, gridfs::LostName last);
  // What a folder that is going to be removed leaves.
  static Result<LostNode> last_of(gridfs::Volume& volume, const gridfs::Node& folder);
  Status rename_in(const Folder& from, std::string_view from_name, const Folder& to,
                   std::string_view to_name, gridfs::RenameMode mode, const Whiteout& whiteout);
  // A rename that moves folders: those of the two names that are in the table.
  struct MovedNames {
    Folder from;
    std::string from_name;
    Folder to;
    std::string to_name;
    gridfs::RenameMode mode;
    Whiteout whiteout;
    std::optional<uint64_t> one;    // the folder `from_name`
    std::optional<uint64_t> other;  // the folder `to_name`
    LostNode replaced;              // `other`
  };
  // In the store; the tree is not locked exclusively.
  Status move_in_store(MovedNames& names);
  // What the table knows, after that.
  Status move_in_table(const MovedNames& names) GM_REQUIRES(tree_mutex_);
  void exchange_in_table(const MovedNames& names) GM_REQUIRES(tree_mutex_);
  // Of a node in the table, whose lookup is counted: that is taken back with an error.
  Result<Entry> remembered(uint64_t number);
  // Puts what has the number into the table, and counts the lookup: its number there, 0 if nothing
  // has it.
  Result<uint64_t> find_number(uint64_t number);
  Result<uint64_t> find_number_in(const std::shared_ptr<MountedBucket>& bucket, uint64_t top,
                                  uint64_t number);
  Result<uint64_t> remember_path(gridfs::Volume& volume, uint64_t top, const std::string& path);
  Result<std::vector<std::string>> shown_bucket_names() const;
  void touch_mount_root();

  // Handles.
  struct Writers {
    uint64_t open = 0;
    uint64_t not_closed = 0;  // by any of those who have it
    uint64_t asked_in = 0;    // the episode of room_ for which the kernel was told to ask
  };
  void note_writer_closed(OpenFile& file);

  Buckets& buckets_;
  BucketViews views_;
  mutable SharedMutex tree_mutex_;
  InodeTable table_;
  FolderMoves moves_{tree_mutex_, table_};
  LostNames lost_names_;
  // Held while what is left of a node is changed; the table's lock is taken below it.
  Mutex lost_mutex_;
  RoomWatch room_;

  mutable Mutex handles_mutex_;
  std::unordered_set<OpenFile*> open_files_ GM_GUARDED_BY(handles_mutex_);
  // Of those how many are for writing, by the node's number.
  std::unordered_map<uint64_t, Writers> writers_ GM_GUARDED_BY(handles_mutex_);
  std::unordered_set<OpenDirectory*> open_directories_ GM_GUARDED_BY(handles_mutex_);
  timespec mount_root_changed_ GM_GUARDED_BY(handles_mutex_);
};

}  // namespace gridmount::fuse
