// The nodes that the kernel knows, by their ino.
//
// The ino of a node is its nodeid and its st_ino. The ino is Node::ino of the layer below, or a
// free number if another node in the table has that ino. The ino does not change as long as the
// kernel remembers the node, even if an implied directory becomes explicit or a name changes.
//
// Directories form a tree of (parent, name). So a rename of a directory moves everything below it
// in one step, and a directory's path is built from the directories above it. Files are known by
// (bucket, _id), independent of any name. Invariants:
// N1. Lookup counts change only under the table's lock, and forget() finds the node by its ino.
//     So a lookup that races with a forget finds the node or creates it anew.
// N2. A directory stays while the kernel remembers it or while a directory below it stays.
// N3. A directory that was removed or replaced leaves the tree of names, but keeps its ino until
//     the kernel forgets it. resolve() reports this.
//
// Thread-safe. The lock is a leaf: no other lock is taken and no I/O is done while it is held.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "fuse/tree/file_names.h"
#include "fuse/tree/unlinked_node.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::fuse {

class GeneratedFile;
class MountedBucket;

inline constexpr uint64_t kRootNode = 1;  // FUSE_ROOT_ID

// kControlDirectory and kControlFile are nodes of a bucket's control directory
// (control_directory.h).
enum class InodeKind {
  kMountRoot,
  kBucketRoot,
  kDirectory,
  kFile,
  kControlDirectory,
  kControlFile
};

// The state of a node when resolve() was called.
struct ResolvedNode {
  uint64_t ino = 0;
  InodeKind kind = InodeKind::kFile;
  std::shared_ptr<MountedBucket> bucket;  // null for the mount root
  uint64_t parent = 0;                    // set for directories; the root is its own parent
  // For a directory, the path as PathNamespace takes it. For a node of the control directory, the
  // path relative to `.gridfs`.
  std::string path;
  bson::Value id;  // set for files; in the control directory, the file whose content is shown
  std::shared_ptr<gridfs::File> open_file;  // set for files that somebody has open
  // Set for a file that has lost its last name. The file may still be in use (pipes, devices,
  // O_PATH).
  std::shared_ptr<const UnlinkedNode> unlinked;
  // Set for a directory that is no longer in the tree.
  std::shared_ptr<const UnlinkedNode> removed;
  // Set for a file of the control directory that is generated, not a stored file.
  std::shared_ptr<GeneratedFile> generated;

  bool is_control() const {
    return kind == InodeKind::kControlDirectory || kind == InodeKind::kControlFile;
  }
  bool is_directory() const { return kind != InodeKind::kFile && kind != InodeKind::kControlFile; }
};

class InodeTable {
 public:
  // `root_bucket` is the bucket shown at the root, or null if the root lists the buckets.
  explicit InodeTable(std::shared_ptr<MountedBucket> root_bucket);
  ~InodeTable();
  InodeTable(const InodeTable&) = delete;
  InodeTable& operator=(const InodeTable&) = delete;

  // Each of the following four functions returns the node's ino and counts one more lookup.
  // `wanted_ino` is Node::ino. `name` is the child's name as the kernel has it. `path` is the
  // directory's path in the bucket.
  uint64_t acquire_bucket(std::string_view name, const std::shared_ptr<MountedBucket>& bucket,
                          uint64_t wanted_ino);
  // Returns 0 if the parent is not in the table. Normally the kernel holds the parent during the
  // lookup.
  //
  // `id` is the _id of the directory's document, or null if the directory is only implied.
  uint64_t acquire_directory(uint64_t parent, std::string_view name, std::string_view path,
                             uint64_t wanted_ino, const bson::Value& id = {});
  uint64_t acquire_file(const std::shared_ptr<MountedBucket>& bucket, bson::ValueView id,
                        uint64_t wanted_ino);
  // Acquires a node of the control directory. `kind` is kControlDirectory or kControlFile. For a
  // file, another `wanted_ino` means another content and leads to another node. If the file is
  // generated, `id` is null and `generated` has the content. Otherwise `generated` is null. Returns
  // 0 if the parent is not in the table.
  uint64_t acquire_control(uint64_t parent, std::string_view name, InodeKind kind,
                           std::string_view path, const bson::Value& id,
                           const std::shared_ptr<GeneratedFile>& generated, uint64_t wanted_ino);
  // Counts one more lookup of a node in the table. Returns false if no node has this ino.
  bool acquire(uint64_t ino);
  // Subtracts `lookups` from the node's lookups, because the kernel has given them up (FUSE's
  // FORGET). A node without lookups leaves the table, except a directory that N2 keeps.
  void forget(uint64_t ino, uint64_t lookups);

  // Returns nothing if the table has no node with this ino.
  std::optional<ResolvedNode> resolve(uint64_t ino) const;
  // Returns the ino that a listing shows for a node: the node's ino in the table, or `wanted_ino`
  // if the node is not in the table.
  uint64_t ino_of_directory(uint64_t parent, std::string_view name, uint64_t wanted_ino) const;
  uint64_t ino_of_file(const MountedBucket* bucket, bson::ValueView id, uint64_t wanted_ino) const;
  // After this call, the next lookup of the file returns a new ino. The old ino stays valid until
  // the kernel forgets it. Returns the old ino, or 0 if the file is not in the table.
  uint64_t renew_file(const MountedBucket* bucket, bson::ValueView id);
  // Returns the inos of all nodes of a bucket.
  std::vector<uint64_t> inos_of(const MountedBucket* bucket) const;
  // With `moving`, marks a directory whose path is about to change. is_moving() is then true for
  // this directory and for all directories below it. Otherwise removes the mark.
  void set_moving(uint64_t ino, bool moving);
  bool is_moving(uint64_t ino) const;
  // Returns the GeneratedFile of the last lookup of that name in the control directory, or null.
  std::shared_ptr<GeneratedFile> find_generated(uint64_t parent, std::string_view name) const;
  // Returns the ino of a directory in the table, or nothing if it is not there.
  std::optional<uint64_t> find_directory(uint64_t parent, std::string_view name) const;

  // --- Names, for changes by others that report only an _id, or no details at all (file_names.h).
  //
  // These functions record new, changed and removed names of files that the kernel knows.
  void note_file_name(uint64_t ino, uint64_t parent, std::string_view name);
  void note_file_renamed(const ShownName& from, const ShownName& to, bool exchanged);
  void note_file_name_removed(uint64_t parent, std::string_view name);
  // Return the names by which the kernel may know the document's node, or none if the table does
  // not have the node. A directory that others have moved has several names.
  std::vector<ShownName> names_of_file(const MountedBucket* bucket, bson::ValueView id) const;
  std::vector<ShownName> names_of_directory(const MountedBucket* bucket, bson::ValueView id) const;
  std::vector<ShownName> names_of_file(uint64_t ino) const;
  // Return directories that have no document. implied_directories() returns all of a bucket.
  // implied_directories_above() returns the directory `ino` and the directories above it, but stops
  // before the first that has a document.
  struct ImpliedDirectory {
    uint64_t ino;
    ShownName name;
  };
  std::vector<ImpliedDirectory> implied_directories(const MountedBucket* bucket) const;
  std::vector<ImpliedDirectory> implied_directories_above(uint64_t ino) const;
  // Returns the buckets in the table, each with the ino of its root.
  std::vector<std::pair<uint64_t, std::shared_ptr<MountedBucket>>> buckets() const;

  // Records the gridfs::File of an open file, for requests that come without a handle. Holds only a
  // weak reference to it.
  void set_open_file(uint64_t ino, const std::shared_ptr<gridfs::File>& file);

  // Makes the file's node continue with another files document. If the file was renewed and looked
  // up again, its newer node continues too.
  void replace_file(uint64_t ino, bson::ValueView next);

  // Must be called when the file has lost its last name. Does nothing if the file is not in the
  // table.
  void remove_file(const MountedBucket* bucket, bson::ValueView id, UnlinkedNode last);
  // Must be called when the directory has left the tree. Does nothing if the directory is not in
  // the table.
  void remove_directory(uint64_t parent, std::string_view name, UnlinkedNode last);
  // Replaces the remaining state of a file that has lost its last name, or of a directory that has
  // left the tree.
  void set_unlinked(uint64_t ino, UnlinkedNode node);
  // Renames the directory to `to_name` in `to_parent`, with the path `path`. A directory that had
  // the new name must have been removed before. Both parents must be in the table.
  void move_directory(uint64_t from_parent, std::string_view from_name, uint64_t to_parent,
                      std::string_view to_name, std::string_view path);

  size_t size() const;

 private:
  struct Inode;
  struct NameKey {
    uint64_t parent;
    std::string_view name;
  };
  struct FileKey {
    const MountedBucket* bucket;
    bson::ValueView id;
  };
  struct ByIno {
    using is_transparent = void;
    size_t operator()(uint64_t ino) const { return std::hash<uint64_t>()(ino); }
    size_t operator()(const std::unique_ptr<Inode>& inode) const;
    bool operator()(const std::unique_ptr<Inode>& a, uint64_t b) const;
    bool operator()(uint64_t a, const std::unique_ptr<Inode>& b) const { return (*this)(b, a); }
    bool operator()(const std::unique_ptr<Inode>& a, const std::unique_ptr<Inode>& b) const;
  };
  struct ByName {
    using is_transparent = void;
    size_t operator()(const NameKey& key) const;
    size_t operator()(const Inode* inode) const;
    bool operator()(const Inode* a, const NameKey& b) const;
    bool operator()(const NameKey& a, const Inode* b) const { return (*this)(b, a); }
    bool operator()(const Inode* a, const Inode* b) const { return a == b; }
  };
  struct ByFile {
    using is_transparent = void;
    size_t operator()(const FileKey& key) const;
    size_t operator()(const Inode* inode) const;
    bool operator()(const Inode* a, const FileKey& b) const;
    bool operator()(const FileKey& a, const Inode* b) const { return (*this)(b, a); }
    bool operator()(const Inode* a, const Inode* b) const { return a == b; }
  };
  // Several directories may have one document.
  struct ByDocument {
    using is_transparent = void;
    size_t operator()(const FileKey& key) const { return ByFile()(key); }
    size_t operator()(const Inode* inode) const { return ByFile()(inode); }
    bool operator()(const Inode* a, const FileKey& b) const { return ByFile()(a, b); }
    bool operator()(const FileKey& a, const Inode* b) const { return ByFile()(a, b); }
    bool operator()(const Inode* a, const Inode* b) const;
  };

  Inode* find(uint64_t ino) const GM_REQUIRES(mutex_);
  Inode* add(InodeKind kind, uint64_t wanted_ino) GM_REQUIRES(mutex_);
  void attach(Inode* inode, Inode* parent, std::string_view name) GM_REQUIRES(mutex_);
  static size_t path_bytes(const Inode* directory);
  void erase_if_unused(Inode* inode) GM_REQUIRES(mutex_);
  void set_document(Inode* directory, const bson::Value& id) GM_REQUIRES(mutex_);
  void unset_document(Inode* directory) GM_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::unordered_set<std::unique_ptr<Inode>, ByIno, ByIno> inodes_ GM_GUARDED_BY(mutex_);
  std::unordered_set<Inode*, ByName, ByName> directories_ GM_GUARDED_BY(mutex_);
  std::unordered_set<Inode*, ByFile, ByFile> files_ GM_GUARDED_BY(mutex_);
  // The directories of buckets: documented_ has the directories with a document, by its _id, and
  // implied_ has the directories that are only implied.
  std::unordered_multiset<Inode*, ByDocument, ByDocument> documented_ GM_GUARDED_BY(mutex_);
  std::unordered_set<Inode*> implied_ GM_GUARDED_BY(mutex_);
  FileNames file_names_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
