// The nodes the kernel knows, by the number it knows them by.
//
// A node's number (nodeid and st_ino are the same) is Node::ino of the layer below, or the next
// free one if two nodes in the table would share it; it stays the same as long as the kernel
// remembers the node, also when an implied folder becomes explicit or a name changes.
//
// Folders form a tree of (parent, name), so renaming one moves everything below it at once, and a
// folder's path is made by walking up. Files are known by (bucket, _id), independent of any name.
// Invariants:
//  N1. Lookup counts change only under the table's lock, and forget() finds the node again by its
//      number, so a lookup that races with a forget either keeps the node or makes it anew.
//  N2. A folder stays while the kernel remembers it or while a folder below it stays.
//  N3. A folder that was removed or replaced is out of the tree of names but keeps its number until
//      it is forgotten; resolve() says so.
//
// Thread-safety: thread-safe. The lock is a leaf: nothing else is locked, and no IO is done, while
// it is held.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "fuse/tree/lost_node.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::fuse {

class MadeUpFile;
class MountedBucket;

inline constexpr uint64_t kRootNode = 1;  // FUSE_ROOT_ID

// kViewFolder, kViewFile: in a bucket's folder of views (bucket_views.h).
enum class InodeKind { kMountRoot, kBucketRoot, kFolder, kFile, kViewFolder, kViewFile };

// A node as it was at the moment of resolve().
struct ResolvedNode {
  uint64_t number = 0;
  InodeKind kind = InodeKind::kFile;
  std::shared_ptr<MountedBucket> bucket;    // null for the mount root
  uint64_t parent = 0;                      // of folders; the root is its own parent
  std::string path;                         // of folders, as Volume wants it; of views, theirs
  bson::Value id;                           // of files; of views, whose content they have
  std::shared_ptr<gridfs::File> open_file;  // of files somebody has open
  // Of a file that has no name any more, and may be open all the same (pipes, devices, O_PATH).
  std::shared_ptr<const LostNode> nameless;
  // Of a folder that is no longer in the tree.
  std::shared_ptr<const LostNode> removed;
  std::shared_ptr<MadeUpFile> made_up;  // of a view that is no file's content

  bool is_view() const { return kind == InodeKind::kViewFolder || kind == InodeKind::kViewFile; }
  bool is_directory() const { return kind != InodeKind::kFile && kind != InodeKind::kViewFile; }
};

class InodeTable {
 public:
  // `root_bucket` is the bucket shown at the root, or null if the root lists the buckets.
  explicit InodeTable(std::shared_ptr<MountedBucket> root_bucket);
  ~InodeTable();
  InodeTable(const InodeTable&) = delete;
  InodeTable& operator=(const InodeTable&) = delete;

  // Each returns the node's number and counts one more lookup. `wanted` is Node::ino. `name` is the
  // child's name as the kernel has it, `path` the folder's path in the bucket.
  uint64_t remember_bucket(std::string_view name, const std::shared_ptr<MountedBucket>& bucket,
                           uint64_t wanted);
  // 0 if the parent is not in the table (the kernel holds it while it looks up in it).
  uint64_t remember_folder(uint64_t parent, std::string_view name, std::string_view path,
                           uint64_t wanted);
  uint64_t remember_file(const std::shared_ptr<MountedBucket>& bucket, bson::ValueView id,
                         uint64_t wanted);
  // A node of the folder of views: kViewFolder or kViewFile. Of a file, another `wanted` stands for
  // another content, and gives another node. Of what is no file's content, `id` is null and
  // `made_up` has it. 0 as above.
  uint64_t remember_view(uint64_t parent, std::string_view name, InodeKind kind,
                         std::string_view path, const bson::Value& id,
                         const std::shared_ptr<MadeUpFile>& made_up, uint64_t wanted);
  // One more lookup of a node in the table; false if there is none of that number.
  bool remember(uint64_t number);
  void forget(uint64_t number, uint64_t lookups);

  std::optional<ResolvedNode> resolve(uint64_t number) const;
  // The number a listing shows, which is `wanted` for nodes not in the table.
  uint64_t number_of_folder(uint64_t parent, std::string_view name, uint64_t wanted) const;
  uint64_t number_of_file(const MountedBucket* bucket, bson::ValueView id, uint64_t wanted) const;
  // The file gets a new number when it is looked up next; the old one stays good for whoever has
  // it. Returns that, 0 if the file is not in the table.
  uint64_t renew_file(const MountedBucket* bucket, bson::ValueView id);
  // Of all nodes of a bucket.
  std::vector<uint64_t> numbers_of(const MountedBucket* bucket) const;
  // While a folder is moved, so that its path changes: is_moving() of it and of what is below it.
  void set_moving(uint64_t number, bool moving);
  bool is_moving(uint64_t number) const;
  // What was made up when a view of that name was looked up last; null if nothing was.
  std::shared_ptr<MadeUpFile> find_made_up(uint64_t parent, std::string_view name) const;
  // Of a folder in the table, else nothing.
  std::optional<uint64_t> find_folder(uint64_t parent, std::string_view name) const;

  // A file's content while it is open, for the calls that come without a handle. Kept weakly.
  void set_open_file(uint64_t number, const std::shared_ptr<gridfs::File>& file);

  // The file's node, and the one that a renewed file has been looked up by since, go on with
  // another files document.
  void replace_file(uint64_t number, bson::ValueView next);

  // The file (if the table has it) has lost its last name.
  void remove_file(const MountedBucket* bucket, bson::ValueView id, LostNode last);
  // The folder (if the table has it) has left the tree.
  void remove_folder(uint64_t parent, std::string_view name, LostNode last);
  // Of a file that has lost its last name, or a folder that has left the tree: what is left of it
  // has been changed.
  void set_lost(uint64_t number, LostNode node);
  // The folder is now `to_name` in `to_parent`, where `path` leads to it. A folder that stood there
  // must have been removed before. Both parents must be in the table.
  void move_folder(uint64_t from_parent, std::string_view from_name, uint64_t to_parent,
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
  struct ByNumber {
    using is_transparent = void;
    size_t operator()(uint64_t number) const { return std::hash<uint64_t>()(number); }
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

  Inode* find(uint64_t number) const GM_REQUIRES(mutex_);
  Inode* add(InodeKind kind, uint64_t wanted) GM_REQUIRES(mutex_);
  void attach(Inode* inode, Inode* parent, std::string_view name) GM_REQUIRES(mutex_);
  static size_t path_bytes(const Inode* folder);
  void erase_if_unused(Inode* inode) GM_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::unordered_set<std::unique_ptr<Inode>, ByNumber, ByNumber> inodes_ GM_GUARDED_BY(mutex_);
  std::unordered_set<Inode*, ByName, ByName> folders_ GM_GUARDED_BY(mutex_);
  std::unordered_set<Inode*, ByFile, ByFile> files_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
