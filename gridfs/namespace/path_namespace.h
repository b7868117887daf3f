// A bucket as a tree of directories and files: the path namespace over Bucket and FileTable.
//
// A directory is identified by its path in the form that filenames have. The mount may show the
// components in another form. "" is the bucket's root, and a path has no slash at either end. A
// child is identified by its name as the mount shows it (name_mapping.h). A directory is explicit
// if it has a document {_id, parent, name, posix} in `<bucket>.directories`, and implied if only
// the names below it exist. Rules:
// V1. Every change made here is one transaction, committed on return. This transaction also sets
//     mtime and ctime of the directories concerned. There are two exceptions. setattr_file()
//     commits a new size and the other attributes separately, and a new size may wait
//     (AttributeChanges::size_may_wait). start_revision() commits the file's dirty data separately.
// V2. A change inside an implied directory makes that directory, and the directories above it,
//     explicit in the same transaction. So removing the last file does not remove the directory.
// V3. If several files documents have one filename, the one with the newest uploadDate (then the
//     greatest _id; PathIndex::newest()) is the file. rename and unlink apply to all of them.
// V4. If a directory, explicit or implied, and a file have the same name, the name leads to the
//     directory, and the escaped name leads to the file. No change made here creates this conflict.
//
// Thread-safe, except close(), for which the rules of FileTable::close() apply. Cost: a look-up is
// a fixed number of index seeks, unless the name has the form %gridfs:long (name_mapping.h).
// Listing costs one or a few seeks per child.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridfs/bucket/bucket.h"
#include "gridfs/content/file.h"
#include "gridfs/namespace/changes_by_others.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::gridfs {

struct DefaultOwner {
  uint32_t uid = 0;
  uint32_t gid = 0;
};

// The creator of a new node, who becomes its owner. If the directory has no default access control
// list, or NamespaceOptions::access_lists is false, the bits of `umask` are removed from the
// requested mode.
struct Creator {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t umask = 0;
};

// The kinds of nodes whose atime a read changes (access_times.h).
enum class AccessTimeMode { kNone, kFiles, kAll };

struct NamespaceOptions {
  // The owner and the umask of files and directories without POSIX fields of their own, for example
  // of files that a driver uploaded.
  DefaultOwner default_owner;
  uint32_t umask = 022;
  bool read_only = false;
  // Ignored if read_only: a read then changes no atime.
  AccessTimeMode access_times = AccessTimeMode::kNone;
  // True: every read changes the atime (strictatime). False: only the first read after a change or
  // after a day does (relatime).
  bool strict_access_times = false;
  // True: new nodes inherit the default access control list of their directory.
  bool access_lists = true;
  // How many earlier contents a file keeps when it is replaced or truncated to nothing.
  uint32_t revisions = 0;
  // Used only for a store that other processes change. After this process has changed a name in a
  // directory, the namespace may answer for this long with the attributes that it wrote to the
  // directory (seen_directories.h). For the same time, but for at most a second, a look-up may miss
  // a name that others have made in a directory in which this process makes names (absent_names.h).
  std::chrono::milliseconds directory_age_max{0};
  // Used only for a store that this process alone has. Counts what is changed in the database
  // without this namespace. With these counts, the namespace need not search for names that are
  // absent from directories that it has made (complete_directories.h), nor for a directory in which
  // it has just changed a name (seen_directories.h).
  std::shared_ptr<const ChangesByOthers> changes_by_others;
  // If set, shows the tree as it was at that time, as far as the files documents record it. Hides
  // files with a later uploadDate, and directories that were made later and contain nothing that is
  // shown. Requires read_only.
  std::optional<bson::Date> at;
};

enum class NodeKind { kDirectory, kFile };

struct Attributes {
  uint32_t mode = 0;  // with S_IFMT
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t nlink = 1;  // for a directory see subdirectory_counts.h
  int64_t size = 0;    // of a symlink: the length of its target
  int64_t blocks = 0;  // of 512 bytes
  uint64_t rdev = 0;
  timespec atime{};
  timespec mtime{};
  timespec ctime{};
};

struct Node {
  NodeKind kind = NodeKind::kFile;
  // Files: the _id of the files document. Directories: the _id of the directories document, null
  // while implied.
  bson::Value id;
  // Directories: the path. Files: empty, because a file is identified by its id.
  std::string path;
  // Stable across remounts: a hash of the bucket and the id, or of the path for an implied
  // directory. An implied directory keeps its ino when it becomes explicit. Never 0 or 1. Two nodes
  // may have one ino, because the hash has only 63 bits. Also, a directory that was implied keeps
  // the ino of its old path when it has become explicit and is moved. If another directory is then
  // implied at the old path, it gets the same ino. The caller must handle two nodes with one ino.
  uint64_t ino = 0;
  Attributes attributes;
  bool has_xattrs = false;
};

struct DirectoryEntry {
  std::string name;  // as shown
  Node node;
  // A caller can pass the cookie to seek() to continue after this entry. The cookie has 62 bits and
  // is never 0.
  uint64_t cookie = 0;
};

// A listing in progress, without "." and "..". Entries are read in batches, each from a new
// snapshot of the store. Entries that exist throughout the listing are returned exactly once, even
// directories that become explicit in the meantime. Exception: a file without a string filename may
// be missed or repeated if such files are added or removed meanwhile. Memory use does not grow with
// the size of the directory, with one exception: a seek to a cookie that is not among the last
// million of this stream needs about 20 bytes for each of the first million names. Not thread-safe.
class DirectoryStream {
 public:
  virtual ~DirectoryStream() = default;
  // Returns nothing at the end.
  virtual Result<std::optional<DirectoryEntry>> next() = 0;
  // Moves the stream to the position after the entry with this cookie. The cookie 0 stands for the
  // beginning.
  //
  // Without a seek, next() may return entries that were read ahead long ago. A seek drops them. So
  // a caller that caches attributes must seek to the present position before each series of calls
  // of next().
  //
  // A cookie is valid for this directory only, but may come from another stream. For a cookie of
  // one of the last million entries of this stream, seek() reads a few dozen names, and finds the
  // position even if the entry is gone. All other cookies are older or come from another stream.
  // Such a cookie leads to the beginning if its entry is gone. In any case, the first seek() to
  // such a cookie reads the names of the directory at most once. In a directory of at most a
  // million names, each later seek() reads a few dozen names, until the store changes.
  //
  // If seek() fails, the caller must seek again before next().
  virtual Status seek(uint64_t cookie) = 0;
};

// What setattr changes. An unset field does not change, with two exceptions: ctime becomes the
// current time, and so does mtime if `size` is set.
struct AttributeChanges {
  std::optional<uint32_t> permissions;  // 07777
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  std::optional<int64_t> size;
  std::optional<timespec> atime;
  std::optional<timespec> mtime;
  std::optional<timespec> ctime;
  // Also applies without_set_id() (posix_changes.h) to a file, unless `permissions` are set.
  // Ignored for a directory.
  bool clears_set_id = false;
  GroupCheck may_keep_group_id;  // used with clears_set_id; null: the set-group-ID bit may stay
  // Set if the file is open for writing. A new size and its times may then wait for the file's next
  // commit, like written data.
  bool size_may_wait = false;
};

// The state of a file when it lost one of its names.
struct RemovedName {
  Node node;          // `nlink` is the number of names left
  PosixFields posix;  // the fields in the document
};

enum class RenameMode {
  kReplace,
  kNoReplace,
  kExchange,  // both names must exist, of whatever kind
};

class PathNamespace {
 public:
  // Opens the namespace. Unless read-only, reclaims the orphans that a killed process has left. If
  // others change the store too (Capabilities::exclusive is false), writes nothing: the first
  // change prepares the bucket, and orphans have leases (orphan_leases.h). Each operation is then
  // repeated after transient errors (retry.h). `store` must outlive the namespace.
  static Result<std::unique_ptr<PathNamespace>> open(engine::Store& store,
                                                     std::shared_ptr<engine::Database> database,
                                                     const BucketOptions& bucket,
                                                     const NamespaceOptions& options,
                                                     const FileTableOptions& files);
  virtual ~PathNamespace() = default;

  virtual const Bucket& bucket() const = 0;
  virtual FileTable& files() = 0;

  // --- Names. `directory` is a directory's path, `name` is a child as the mount shows it.
  // Functions that take a name fail with NoSuchEntry if `directory` does not exist or is a file,
  // and with NameTooLong or InvalidName for a name that the mount cannot have. Functions that do
  // not make the name also fail with NoSuchEntry if the name does not exist.
  virtual Result<Node> lookup(std::string_view directory, std::string_view name) = 0;
  virtual Result<Node> root() = 0;
  virtual Result<Node> file(bson::ValueView id) = 0;  // fails with FileNotFound
  // get_directory() and list() fail with NoSuchEntry if the directory does not exist.
  virtual Result<Node> get_directory(std::string_view path) = 0;
  virtual Result<std::unique_ptr<DirectoryStream>> list(std::string_view directory) = 0;
  // Returns the node whose Node::ino is `ino`, or nothing if no node has it. Reads the documents of
  // directories, then the files documents, until a node with this ino is found. Does not find a
  // directory that only additional names of files imply.
  virtual Result<std::optional<Node>> find_by_ino(uint64_t ino) = 0;

  // --- Changes. All of them, and all changes of attributes below, fail with StoreReadOnly if the
  // namespace is read-only. Functions that make a name fail with EntryExists if the name is taken.
  // Only the permission bits of `mode` are used. posix_changes.h says what a new node inherits from
  // its directory.
  virtual Result<Node> create_file(std::string_view directory, std::string_view name, uint32_t mode,
                                   Creator creator) = 0;
  struct OpenedFile {
    Node node;
    std::shared_ptr<File> file;
  };
  // Like create_file(), but also opens the file, without another request to the store.
  virtual Result<OpenedFile> create_open_file(std::string_view directory, std::string_view name,
                                              uint32_t mode, Creator creator) = 0;
  // Creates a tmpfile (O_TMPFILE): an open file that has no name yet. The file inherits from
  // `directory`. When its last holder releases the file, the file is removed, unless link() has
  // given it a name.
  virtual Result<OpenedFile> create_tmpfile(std::string_view directory, uint32_t mode,
                                            Creator creator) = 0;
  // Creates a pipe, socket or device. `mode` must also have the type.
  virtual Result<Node> mknod(std::string_view directory, std::string_view name, uint32_t mode,
                             uint64_t rdev, Creator creator) = 0;
  virtual Result<Node> symlink(std::string_view directory, std::string_view name,
                               std::string_view target, Creator creator) = 0;
  virtual Result<Node> mkdir(std::string_view directory, std::string_view name, uint32_t mode,
                             Creator creator) = 0;
  // Gives the file one more name, or gives a tmpfile its first name. Fails with FileNotFound if
  // there is no such file, with TooManyLinks if the file has as many names as a file may have, or
  // with InvalidName if the document in `files` has no string filename.
  virtual Result<Node> link(bson::ValueView id, std::string_view directory,
                            std::string_view name) = 0;
  // Returns true if files with several names may exist.
  virtual bool has_links() const = 0;
  // Fails with IsADirectory for directories.
  virtual Result<RemovedName> unlink(std::string_view directory, std::string_view name) = 0;
  // Fails with NotADirectory or DirectoryNotEmpty.
  virtual Status rmdir(std::string_view directory, std::string_view name) = 0;
  // POSIX rename(). A file may replace a file, and a directory an empty directory. Otherwise fails
  // with IsADirectory, NotADirectory, DirectoryNotEmpty or MoveIntoItself. Fails with InvalidName
  // if a file without a string filename would be replaced or exchanged. With kNoReplace, fails with
  // EntryExists if the new name exists. Does nothing if both names lead to one file or directory. A
  // directory moves with everything below it in one transaction. If a file lost its name at the new
  // path, returns that file, as unlink() does.
  virtual Result<std::optional<RemovedName>> rename(std::string_view from_directory,
                                                    std::string_view from_name,
                                                    std::string_view to_directory,
                                                    std::string_view to_name, RenameMode mode) = 0;
  // Like rename(), and creates a whiteout at the old path in the same transaction
  // (RENAME_WHITEOUT). A whiteout is a device 0/0 without permissions, by which overlayfs hides a
  // name of the layer below. `mode` must not be kExchange.
  virtual Result<std::optional<RemovedName>> rename_leaving_whiteout(
      std::string_view from_directory, std::string_view from_name, std::string_view to_directory,
      std::string_view to_name, RenameMode mode, Creator creator) = 0;

  // --- Attributes and content. Functions that take an id fail with FileNotFound if the file does
  // not exist. Functions that take only a path fail with NoSuchEntry if the directory does not
  // exist.
  virtual Result<Node> setattr_file(bson::ValueView id, const AttributeChanges& changes) = 0;
  virtual Result<Node> setattr_directory(std::string_view path,
                                         const AttributeChanges& changes) = 0;
  // Returns the target of a symlink, and records a read of the symlink. Fails with BadValue if the
  // file is no symlink.
  virtual Result<std::string> readlink(bson::ValueView id) = 0;
  // Records a read of the file or directory. Returns true if the atime has changed. For a
  // directory, this costs a look-up of the attributes.
  virtual bool record_read(const File& file) = 0;
  virtual bool record_read(std::string_view directory) = 0;
  // file_posix() and directory_posix() return the POSIX fields in the node's document, with `mode`
  // filled in if the document has none. directory_posix() also fills in `uid` and `gid`.
  // change_file_posix() and change_directory_posix() call `change` with these fields, and write its
  // result in the same transaction.
  virtual Result<PosixFields> file_posix(bson::ValueView id) = 0;  // fails with FileNotFound
  virtual Result<PosixFields> directory_posix(std::string_view path) = 0;  // fails with NoSuchEntry
  virtual Status change_file_posix(bson::ValueView id, const PosixChange& change) = 0;
  virtual Status change_directory_posix(std::string_view path, const PosixChange& change) = 0;
  // Returns a field of the files document as text (file_fields.h). Fails with NoSuchXattr if there
  // is no such field. set_file_field() works like setxattr(2), and removes the field if `text` is
  // nullopt. It fails as set_xattr() (xattrs.h) and field_update() (file_fields.h) do.
  virtual Result<std::string> file_field(bson::ValueView id, std::string_view field) = 0;
  virtual Status set_file_field(bson::ValueView id, std::string_view field,
                                std::optional<std::string_view> text, XattrMode mode) = 0;
  virtual Result<std::shared_ptr<File>> open_file(bson::ValueView id) = 0;
  virtual Result<std::shared_ptr<File>> open_file_to_read(bson::ValueView id) = 0;  // file.h

  // --- Revisions: the files documents of one name. The newest of them is the file (V3).
  //
  // Returns the revisions of the file `name`, oldest first. Fails with NoSuchEntry or IsADirectory.
  virtual Result<std::vector<Node>> revisions(std::string_view directory,
                                              std::string_view name) = 0;
  // Returns the revision at position `number` of revisions(), or nothing if there are too few
  // revisions. Reads only the index entries of the revisions before it, and only the documents with
  // the same uploadDate. But it reads all documents if the name is an additional name of a file, or
  // if a driver has stored an array as filename or uploadDate in the bucket.
  virtual Result<std::optional<Node>> revision(std::string_view directory, std::string_view name,
                                               uint64_t number) = 0;
  // Keeps the file's content as an earlier revision. The filename and all additional names now lead
  // to a new, empty files document with the other fields of the old one. Returns its _id. Dirty
  // data of the old file is committed first. Revisions beyond the limit are removed. The caller
  // must make the holders of the old file continue with the new one.
  //
  // If no content is to be kept, returns nothing. Then it has at most committed the dirty data.
  // This is so if NamespaceOptions::revisions is 0, or the file is empty, is not a regular file,
  // has no filename, is not the newest of its name, or has an uploadDate that no later date can
  // follow. Fails with FileNotFound.
  virtual Result<std::optional<bson::Value>> start_revision(bson::ValueView id) = 0;
  // Lists all files by id_name() (name_mapping.h), in the order of _id.
  virtual Result<std::unique_ptr<DirectoryStream>> list_ids() = 0;

  // --- External changes. If anything other than this namespace changes a file's name, one of its
  // additional names, or a directory's document, the caller must report this after the commit.
  virtual void name_changed_externally(std::string_view filename) = 0;
  virtual void directory_changed_externally(std::string_view path) = 0;
  virtual void directories_changed_externally() = 0;  // any directory's document
  virtual void links_changed_externally() = 0;
  // Returns the additional names that the collection `links` has for a file, even if the file is
  // gone.
  virtual Result<std::vector<std::string>> links_of(bson::ValueView id) = 0;

  // Commits all open files, waits up to 2 seconds for md5 digests, stops background work and writes
  // the atimes. Returns the first error of any file, or else the error of writing the atimes. If
  // there is no room for the atimes, they are lost, and that is only a warning in the log.
  virtual Status close() = 0;
};

}  // namespace gridmount::gridfs
