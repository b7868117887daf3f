// A bucket as a tree of folders and files: the path namespace over Bucket and FileTable.
//
// Folders are named by their path as it stands in filenames ("" is the bucket's root, no slashes at
// either end), so a folder has the same path however its components are shown. Children are named
// as the mount shows them (path.h). A folder is implied by the names below it or explicit by a
// document in
// `<bucket>.directories` {_id, parent, name, posix}. Rules:
//  V1. Every change made here is one transaction, committed on return, that also sets mtime and
//  ctime of
//      the folder(s) concerned.
//  V2. A change inside an implied folder makes the folder, and the folders above it, explicit in
//  the same transaction, so that
//      removing the last file does not take the folder away.
//  V3. Of several files documents with one filename the one with the newest uploadDate (then the
//  greatest _id; Names::newest()) is
//      the file; rename and unlink concern them all.
//  V4. A name is a folder if it is explicit or implied; a file of the same name is reached by its
//      escape. Nothing made here creates such a conflict.
// Thread-safety: thread-safe. Cost: lookups are a fixed number of index seeks; listing is one or a
// few per child.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridfs/bucket/bucket.h"
#include "gridfs/content/file.h"
#include "gridfs/namespace/path.h"

namespace gridmount::gridfs {

struct Owner {
  uint32_t uid = 0;
  uint32_t gid = 0;
};

// Who makes something: its owner, and what is taken from the mode asked for where the folder has no
// default access control list.
struct Creator {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t umask = 0;
};

// Which nodes' atime reading changes (access_times.h).
enum class AccessTimeMode { kNone, kFiles, kAll };

struct VolumeOptions {
  // For files and folders without POSIX fields of their own (uploaded by a driver).
  Owner default_owner;
  uint32_t umask = 022;
  bool read_only = false;
  // Counts as kNone if read_only.
  AccessTimeMode access_times = AccessTimeMode::kNone;
  // Each reading changes it, not only the first one after a change or a day.
  bool strict_access_times = false;
  // Whether a folder's default access control list is passed on.
  bool access_lists = true;
  // How many contents before the present one a file that is replaced or cut to nothing keeps.
  uint32_t revisions = 0;
  // The tree as it was then, as far as the files documents tell: what has a later uploadDate is
  // passed over, and so are folders made later that nothing shown is in. Only if read_only.
  std::optional<bson::Date> at;
};

enum class NodeKind { kDirectory, kFile };

struct Attributes {
  uint32_t mode = 0;  // with S_IFMT
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t nlink = 1;  // of a folder: subfolder_counts.h
  int64_t size = 0;    // a symlink's is the length of its target
  int64_t blocks = 0;  // of 512 bytes
  uint64_t rdev = 0;
  timespec atime{};
  timespec mtime{};
  timespec ctime{};
};

struct Node {
  NodeKind kind = NodeKind::kFile;
  // files: the files document's _id. folders: the directories document's _id, null while implied.
  bson::Value id;
  // folders: the path; files: empty, they are known by their id.
  std::string path;
  // Stable across remounts: derived from bucket and id, of implied folders from the path, which
  // they keep when they become explicit. Never 0 or 1. Collisions are possible in principle (63
  // bits; or an implied folder where one was that became explicit and was moved) and the caller's
  // to resolve.
  uint64_t ino = 0;
  Attributes attributes;
};

struct DirectoryEntry {
  std::string name;  // as shown
  Node node;
  // Give it to seek() to go on behind this entry; 62 bits, never 0.
  uint64_t cookie = 0;
};

// A listing in progress. Without "." and "..". Entries are read in batches, each from the store as
// it is then: those that exist throughout the listing come exactly once, also folders that become
// explicit meanwhile. Memory does not grow with the folder.
class DirectoryStream {
 public:
  virtual ~DirectoryStream() = default;
  virtual Result<std::optional<DirectoryEntry>> next() = 0;
  // What next() gives afterwards is read anew, so whoever passes attributes on to a cache seeks to
  // where it is before each run of next(). 0 is the beginning; cookies of this folder only, from
  // this stream or another. Those of the last million entries of this one cost the reading of some
  // dozen names, and lead to the same place when the entry is gone; others cost a listing, and
  // where the entry is gone too, lead to the beginning.
  virtual Status seek(uint64_t cookie) = 0;
};

// What setattr changes; unset fields stay. ctime becomes now unless given.
struct AttributeChanges {
  std::optional<uint32_t> permissions;  // 07777
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  std::optional<int64_t> size;
  std::optional<timespec> atime;
  std::optional<timespec> mtime;
  std::optional<timespec> ctime;
  // Also without_set_id() (posix_changes.h), unless `permissions` are given.
  bool clears_set_id = false;
  GroupCheck may_keep_group_id;  // for that; null: whoever it is
  // The file is open for writing: a new size, with its times, may wait for the file's next commit,
  // as what is written does.
  bool size_may_wait = false;
};

// A file as it was when a name of it went.
struct LostName {
  Node node;          // `nlink` is how many names are left
  PosixFields posix;  // what the document said
};

enum class RenameMode {
  kReplace,
  kNoReplace,
  kExchange,  // both names must be there, of whatever kind
};

class Volume {
 public:
  // Reclaims what a killed process left detached, unless read-only.
  static Result<std::unique_ptr<Volume>> open(engine::Store& store,
                                              std::shared_ptr<engine::Database> database,
                                              const BucketOptions& bucket,
                                              const VolumeOptions& options,
                                              const FileTableOptions& files);
  virtual ~Volume() = default;

  virtual const Bucket& bucket() const = 0;
  virtual FileTable& files() = 0;

  // --- Names. `folder` is a folder's path, `name` a child as shown. NoSuchEntry, NotADirectory,
  // NameTooLong, InvalidName.
  virtual Result<Node> lookup(std::string_view folder, std::string_view name) = 0;
  virtual Result<Node> root() = 0;
  virtual Result<Node> file(bson::ValueView id) = 0;          // FileNotFound
  virtual Result<Node> directory(std::string_view path) = 0;  // NoSuchEntry
  virtual Result<std::unique_ptr<DirectoryStream>> list(std::string_view folder) = 0;
  // What has that Node::ino; nothing if none has. Looks at each document of the bucket.
  virtual Result<std::optional<Node>> find_by_number(uint64_t ino) = 0;

  // --- Changes. EntryExists where the name is taken. `mode` holds permission bits only; what the
  // folder passes on is posix_changes.h's.
  virtual Result<Node> create_file(std::string_view folder, std::string_view name, uint32_t mode,
                                   Creator creator) = 0;
  // A file that has no name yet, open; what it gets of a folder is this one's. Whoever lets go of
  // it last removes it, unless link() has given it a name.
  struct Nameless {
    Node node;
    std::shared_ptr<File> file;
  };
  virtual Result<Nameless> create_nameless(std::string_view folder, uint32_t mode,
                                           Creator creator) = 0;
  // A pipe, socket or device: `mode` also holds its type.
  virtual Result<Node> create_special(std::string_view folder, std::string_view name, uint32_t mode,
                                      uint64_t rdev, Creator creator) = 0;
  virtual Result<Node> create_symlink(std::string_view folder, std::string_view name,
                                      std::string_view target, Creator creator) = 0;
  virtual Result<Node> create_directory(std::string_view folder, std::string_view name,
                                        uint32_t mode, Creator creator) = 0;
  // One more name for the file, or the first for one of create_nameless(): FileNotFound,
  // TooManyLinks, InvalidName if it has no filename.
  virtual Result<Node> link(bson::ValueView id, std::string_view folder, std::string_view name) = 0;
  // Whether there may be files with several names.
  virtual bool has_links() const = 0;
  // IsADirectory for folders.
  virtual Result<LostName> unlink(std::string_view folder, std::string_view name) = 0;
  // NotADirectory, DirectoryNotEmpty.
  virtual Status remove_directory(std::string_view folder, std::string_view name) = 0;
  // POSIX rename: replaces a file by a file, an empty folder by a folder; IsADirectory,
  // NotADirectory, DirectoryNotEmpty, MoveIntoItself otherwise. A folder moves with all below it in
  // one transaction. The file that lost a name by it, as with unlink().
  virtual Result<std::optional<LostName>> rename(std::string_view from_folder,
                                                 std::string_view from_name,
                                                 std::string_view to_folder,
                                                 std::string_view to_name, RenameMode mode) = 0;
  // The same in one transaction with a whiteout at the old place (RENAME_WHITEOUT): a device 0/0 of
  // no permissions, by which overlayfs hides a name of the layer below. Not with kExchange.
  virtual Result<std::optional<LostName>> rename_leaving_whiteout(
      std::string_view from_folder, std::string_view from_name, std::string_view to_folder,
      std::string_view to_name, RenameMode mode, Creator creator) = 0;

  // --- Attributes and content.
  virtual Result<Node> set_file_attributes(bson::ValueView id, const AttributeChanges& changes) = 0;
  virtual Result<Node> set_directory_attributes(std::string_view path,
                                                const AttributeChanges& changes) = 0;
  // Counts as reading it.
  virtual Result<std::string> symlink_target(bson::ValueView id) = 0;
  // Notes that the file or folder is being read: whether its atime has changed by it. Costs a look
  // at its attributes.
  virtual bool note_read(const File& file) = 0;
  virtual bool note_read(std::string_view folder) = 0;
  // What the node's document says of it, `mode` filled in where it says nothing; and one
  // transaction that changes what depends on that.
  virtual Result<PosixFields> file_posix(bson::ValueView id) = 0;          // FileNotFound
  virtual Result<PosixFields> directory_posix(std::string_view path) = 0;  // NoSuchEntry
  virtual Status change_file_posix(bson::ValueView id, const PosixChange& change) = 0;
  virtual Status change_directory_posix(std::string_view path, const PosixChange& change) = 0;
  // A field of the files document as text (file_fields.h): NoSuchXattr, FileNotFound. As with
  // setxattr(2); without `text` it is removed.
  virtual Result<std::string> file_field(bson::ValueView id, std::string_view field) = 0;
  virtual Status set_file_field(bson::ValueView id, std::string_view field,
                                std::optional<std::string_view> text, XattrMode mode) = 0;
  virtual Result<std::shared_ptr<File>> open_file(bson::ValueView id) = 0;

  // --- Revisions: the files documents of one name, of which the newest is the file (V3).
  //
  // Those of the file `name`, oldest first. NoSuchEntry, IsADirectory.
  virtual Result<std::vector<Node>> revisions(std::string_view folder, std::string_view name) = 0;
  // Leaves the file's content to an earlier revision and has the name (all its names) lead to a new
  // files document, empty, with all else the old one had: its _id. Those that are too many go. What
  // is not committed yet is, before. Nothing happens where no content is kept: revisions is 0, or
  // the file is empty, is no plain file or has no filename. Whoever has the old one open must go on
  // with the new one.
  virtual Result<std::optional<bson::Value>> start_revision(bson::ValueView id) = 0;
  // All files by their id_name() (path.h), in the order of _id.
  virtual Result<std::unique_ptr<DirectoryStream>> list_ids() = 0;

  // --- Others than this volume have changed a file's name, or one of its names, or any folder's
  // document: after their commit.
  virtual void name_changed_by_others(std::string_view filename) = 0;
  virtual void folders_changed_by_others() = 0;
  virtual void links_changed_by_others() = 0;
  // The further names of a file that is there or was, as far as they can be read.
  virtual std::vector<std::string> links_of(bson::ValueView id) = 0;

  // Commits all open files and stops background work. Errors of any file, the first.
  virtual Status close() = 0;
};

}  // namespace gridmount::gridfs
