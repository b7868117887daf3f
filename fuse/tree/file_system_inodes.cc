// Nodes that the kernel has forgotten, found by their ino: for open_by_handle_at(2) and NFS
// exports.
#include "fuse/errno.h"
#include "fuse/tree/file_system.h"
#include "gridfs/bucket/error.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::fuse {

namespace {

tl::unexpected<Error> no_such_ino(uint64_t ino) {
  return fail(gridfs::kNoSuchEntry,
              "there is no node with the inode number " + std::to_string(ino));
}

}  // namespace

Result<EntryReply> FileSystem::lookup_ino(uint64_t ino) {
  if (table_.acquire(ino)) return acquired(ino);
  {
    TreeReadLock lock(moves_, tree_mutex_, kRootNode);
    GM_ASSIGN(const uint64_t found, find_ino(ino));
    if (found != ino) {
      // Another node has taken the ino in the meantime.
      if (found != 0) table_.forget(found, 1);
      return no_such_ino(ino);
    }
  }
  return acquired(ino);
}

Result<EntryReply> FileSystem::lookup_parent(uint64_t ino) {
  uint64_t parent = 0;
  {
    TreeReadLock lock(moves_, tree_mutex_, ino);
    GM_ASSIGN(const ResolvedNode node, resolve(ino));
    if (!node.is_directory()) {
      return fail(gridfs::kNotADirectory, "node " + std::to_string(ino) + " is not a directory");
    }
    if (node.removed) return no_such_ino(ino);
    parent = node.parent;
  }
  if (!table_.acquire(parent)) return no_such_ino(parent);
  return acquired(parent);
}

Result<EntryReply> FileSystem::acquired(uint64_t ino) {
  Result<EntryReply> entry = getattr(ino, nullptr);
  if (!entry) table_.forget(ino, 1);
  return entry;
}

Result<uint64_t> FileSystem::find_ino(uint64_t ino) {
  const std::optional<ResolvedNode> root = table_.resolve(kRootNode);
  if (root->bucket) return find_ino_in(root->bucket, kRootNode, ino);
  GM_ASSIGN(const std::vector<std::string> names, buckets_.names());
  for (const std::string& name : names) {
    GM_ASSIGN(const std::shared_ptr<MountedBucket> bucket, buckets_.find(name));
    const std::string shown = gridfs::escape_component(name, false);
    const uint64_t top = table_.acquire_bucket(shown, bucket, bucket_ino(shown));
    if (top == ino) return ino;
    Result<uint64_t> found = find_ino_in(bucket, top, ino);
    table_.forget(top, 1);
    if (!found || *found != 0) return found;
  }
  return uint64_t{0};
}

Result<uint64_t> FileSystem::find_ino_in(const std::shared_ptr<MountedBucket>& bucket, uint64_t top,
                                         uint64_t ino) {
  GM_ASSIGN(const std::shared_ptr<gridfs::PathNamespace> paths, bucket->paths());
  GM_ASSIGN(const std::optional<gridfs::Node> node, paths->find_by_ino(ino));
  if (!node) return uint64_t{0};
  if (node->kind == gridfs::NodeKind::kFile) {
    return table_.acquire_file(bucket, node->id, node->ino);
  }
  // The root of the bucket has another ino.
  if (node->path.empty()) return uint64_t{0};
  return acquire_path(*paths, top, node->path);
}

// Each directory on the path is held by the one below it.
Result<uint64_t> FileSystem::acquire_path(gridfs::PathNamespace& paths, uint64_t top,
                                          const std::string& path) {
  uint64_t parent = top;
  size_t end = 0;
  while (end < path.size()) {
    const size_t begin = end == 0 ? 0 : end + 1;
    const std::string_view component =
        gridfs::first_component(std::string_view(path).substr(begin), begin == 0);
    end = begin + component.size();
    Result<gridfs::Node> node = paths.get_directory(path.substr(0, end));
    const uint64_t ino =
        node ? table_.acquire_directory(parent, gridfs::escape_component(component, begin == 0),
                                        node->path, node->ino, node->id)
             : 0;
    if (parent != top) table_.forget(parent, 1);
    if (!node) return fail(std::move(node).error());
    if (ino == 0) return uint64_t{0};
    parent = ino;
  }
  return parent;
}

}  // namespace gridmount::fuse
