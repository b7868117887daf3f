// FileSystem: opendir, readdir and releasedir.
#include <fcntl.h>
#include <sys/stat.h>

#include "fuse/errno.h"
#include "fuse/tree/attributes.h"
#include "fuse/tree/file_system.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/posix_changes.h"

namespace gridmount::fuse {

namespace {

// A listing must show some ino. Programs that need the real ino call stat(2).
constexpr uint64_t kUnknownNumber = UINT32_MAX;

}  // namespace

Result<std::vector<std::string>> FileSystem::shown_bucket_names() const {
  GM_ASSIGN(std::vector<std::string> names, buckets_.names());
  for (std::string& name : names) name = gridfs::escape_component(name, false);
  return names;
}

Result<DirectoryHandle*> FileSystem::opendir(uint64_t ino, int flags) {
  TreeReadLock lock(moves_, tree_mutex_, ino);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  std::unique_ptr<DirectoryHandle> handle;
  if (!node.is_directory()) {
    return fail(gridfs::kNotADirectory, "node " + std::to_string(ino) + " is not a directory");
  }
  if (node.kind == InodeKind::kMountRoot) {
    GM_ASSIGN(std::vector<std::string> names, shown_bucket_names());
    handle = std::make_unique<DirectoryHandle>(ino, std::move(names));
  } else if (node.removed) {
    // The directory was removed while somebody uses it, for example as the working directory. It is
    // empty.
    handle = std::make_unique<DirectoryHandle>(ino, std::vector<std::string>());
  } else if (node.is_control()) {
    GM_ASSIGN(auto paths, node.bucket->paths());
    GM_ASSIGN(auto stream, control_.list(paths, node.path));
    handle = std::make_unique<DirectoryHandle>(ino, node.bucket, std::move(paths), node.path,
                                               std::move(stream), false);
  } else {
    GM_ASSIGN(Directory in, directory(ino, ""));
    GM_ASSIGN(handle, DirectoryHandle::open(ino, in.node.bucket, in.paths, in.node.path));
    if ((flags & O_NOATIME) == 0) handle->count_as_reading();
  }
  MutexLock handles_lock(handles_mutex_);
  open_directories_.insert(handle.get());
  return handle.release();
}

void FileSystem::releasedir(DirectoryHandle* directory) {
  {
    MutexLock lock(handles_mutex_);
    open_directories_.erase(directory);
  }
  delete directory;
}

Status FileSystem::readdir(DirectoryHandle& directory, uint64_t offset, bool lookup_each,
                           Lister& lister) {
  TreeReadLock lock(moves_, tree_mutex_, directory.ino());
  GM_ASSIGN(ResolvedNode node, resolve(directory.ino()));
  // A removed directory is empty. Its old path may lead to another directory now.
  if (node.removed) return {};
  MutexLock directory_lock(directory.mutex());
  if (directory.lists_buckets() && offset == 0) {
    GM_ASSIGN(std::vector<std::string> names, shown_bucket_names());
    directory.set_bucket_names(std::move(names));
  }
  // seek() drops the entries that were read ahead, so all entries are read after this moment.
  const KnownWithoutXattrs::Moment before = moment();
  GM_TRY(directory.seek(offset, node.path));
  if (offset == 0) directory.record_read();
  for (bool first = true;; first = false) {
    Result<std::optional<ListedEntry>> listed = directory.peek();
    if (!listed && first) return fail(std::move(listed).error());
    if (!listed || !*listed || !lister.fits((*listed)->name)) return {};
    const ListedEntry& entry = **listed;
    switch (entry.kind) {
      case ListedEntry::Kind::kSelf:
        lister.add(entry, node.ino, S_IFDIR, nullptr);
        break;
      case ListedEntry::Kind::kParent:
        lister.add(entry, node.parent, S_IFDIR, nullptr);
        break;
      case ListedEntry::Kind::kBucket:
        // The entry has no attributes, because they would require opening every bucket.
        lister.add(entry, table_.ino_of_directory(node.ino, entry.name, bucket_ino(entry.name)),
                   S_IFDIR, nullptr);
        break;
      case ListedEntry::Kind::kNode: {
        const gridfs::Node& child = *entry.node;
        const uint32_t type = child.attributes.mode & S_IFMT;
        if (node.is_control()) {
          // The entry has no attributes, because they would require a look-up of each entry.
          lister.add(entry, table_.ino_of_directory(node.ino, entry.name, kUnknownNumber), type,
                     nullptr);
        } else if (lookup_each) {
          Result<EntryReply> found = entry_of(node, entry.name, child);
          if (!found) return first ? Status(fail(std::move(found).error())) : Status();
          note_xattrs(found->ino, child, before);
          lister.add(entry, found->ino, type, &*found);
        } else if (child.kind == gridfs::NodeKind::kFile) {
          lister.add(entry, table_.ino_of_file(node.bucket.get(), child.id, child.ino), type,
                     nullptr);
        } else {
          lister.add(entry, table_.ino_of_directory(node.ino, entry.name, child.ino), type,
                     nullptr);
        }
        break;
      }
    }
    directory.consume();
  }
}

}  // namespace gridmount::fuse
