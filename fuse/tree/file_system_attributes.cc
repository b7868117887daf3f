// FileSystem: getattr, setattr and readlink.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "fuse/errno.h"
#include "fuse/tree/attributes.h"
#include "fuse/tree/file_system.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/posix_changes.h"

namespace gridmount::fuse {

double FileSystem::cache_seconds(const ResolvedNode& node) const {
  const bool shared = node.kind == InodeKind::kMountRoot ||
                      (node.kind == InodeKind::kBucketRoot && node.ino != kRootNode);
  const std::chrono::duration<double> known = buckets_.settings().paths.directory_age_max;
  const double seconds = node_cache_seconds() - known.count();
  return shared ? std::min(kCacheBriefly, seconds) : seconds;
}

EntryReply FileSystem::entry_of_file(const ResolvedNode& node, const gridfs::Node& file) const {
  EntryReply entry{node.ino, file.attributes, node_cache_seconds(),
                   nlink_race_guard_.concerns(node.ino)};
  // The file has become an earlier revision, and the name leads to another file.
  if (node.unlinked) entry.attributes.nlink = 0;
  return entry;
}

Result<EntryReply> FileSystem::file_attributes(const ResolvedNode& node,
                                               const gridfs::File* file) const {
  const auto find = [&]() -> Result<gridfs::Node> {
    GM_ASSIGN(auto paths, node.bucket->paths());
    return paths->file(node.id);
  };
  Result<gridfs::Node> named = find();
  if (named) return entry_of_file(node, *named);
  const bool has_gone = is_absent(named.error());
  if (has_gone && file == nullptr && node.unlinked) {
    return EntryReply{node.ino, node.unlinked->attributes, node_cache_seconds()};
  }
  if (!has_gone || file == nullptr) return fail(std::move(named).error());
  return EntryReply{node.ino, unlinked_attributes(file->document(), buckets_.settings().paths),
                    node_cache_seconds()};
}

Result<EntryReply> FileSystem::getattr(uint64_t ino, const FileHandle* file) {
  TreeReadLock lock(moves_, tree_mutex_, ino);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.kind == InodeKind::kFile) {
    return file_attributes(node, file ? file->file().get() : node.open_file.get());
  }
  if (node.is_control()) return control_attributes(node, file);
  if (node.removed) return EntryReply{ino, node.removed->attributes, node_cache_seconds()};
  if (node.kind == InodeKind::kMountRoot) {
    MutexLock handles_lock(handles_mutex_);
    return EntryReply{ino, mount_root_attributes(buckets_.settings().paths, mount_root_changed_),
                      bucket_cache_seconds()};
  }
  GM_ASSIGN(auto paths, node.bucket->paths());
  GM_ASSIGN(gridfs::Node found, paths->get_directory(node.path));
  return EntryReply{ino, found.attributes, cache_seconds(node)};
}

bool FileSystem::is_without_document(const ResolvedNode& node,
                                     const gridfs::AttributeChanges& changes) const {
  const bool times_alone = !changes.permissions && !changes.uid && !changes.gid && !changes.size &&
                           !changes.atime && !changes.clears_set_id;
  // With revisions, a file that has lost its name may still have a document. Others that change the
  // store may insert the document again.
  return node.unlinked && !node.open_file && times_alone && !keeps_revisions() && !is_shared();
}

Status FileSystem::start_revision(uint64_t ino) {
  TreeWriteLock lock(moves_, tree_mutex_);
  GM_ASSIGN(const ResolvedNode node, resolve(ino));
  if (node.kind != InodeKind::kFile || node.unlinked) return {};
  GM_ASSIGN(auto paths, node.bucket->paths());
  GM_ASSIGN(const std::optional<bson::Value> next, paths->start_revision(node.id));
  if (!next) return {};
  table_.replace_file(ino, *next);
  GM_ASSIGN(const std::shared_ptr<gridfs::File> file, paths->open_file(*next));
  MutexLock handles_lock(handles_mutex_);
  for (FileHandle* handle : open_files_) {
    if (handle->is_control || handle->bucket != node.bucket) continue;
    if (!(handle->file()->id() == node.id)) continue;
    handle->set_file(file);
    table_.set_open_file(handle->ino, file);
  }
  return {};
}

Result<EntryReply> FileSystem::setattr(uint64_t ino, const FileHandle* handle,
                                       const gridfs::AttributeChanges& changes) {
  if (changes.size == 0 && keeps_revisions()) GM_TRY(start_revision(ino));
  TreeReadLock lock(moves_, tree_mutex_, ino);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.kind == InodeKind::kMountRoot) {
    return fail(kNotPermitted,
                "the root of the mount has no document, so its attributes cannot be changed");
  }
  if (node.is_control()) return control_is_read_only();
  // A process that has the directory open may still change it, although nobody else sees the
  // change.
  if (node.removed) return setattr_unlinked(ino, changes);
  if (node.kind != InodeKind::kFile) {
    GM_ASSIGN(auto paths, node.bucket->paths());
    GM_ASSIGN(gridfs::Node changed, paths->setattr_directory(node.path, changes));
    return EntryReply{ino, changed.attributes, cache_seconds(node)};
  }
  // The kernel sends the times of a file that has just lost its last name, because its ctime
  // changes. No search in the store is needed to know that the file is gone.
  if (!handle && is_without_document(node, changes)) return setattr_unlinked(ino, changes);
  gridfs::AttributeChanges file_changes = changes;
  // The store may get the new size later if a writer of the file has yet to close it. open(2) with
  // O_TRUNC passes no handle, so every such writer counts.
  file_changes.size_may_wait = changes.size && (handle ? handle->for_writing : will_be_closed(ino));
  const auto change = [&]() -> Result<gridfs::Node> {
    GM_ASSIGN(auto paths, node.bucket->paths());
    return paths->setattr_file(node.id, file_changes);
  };
  Result<gridfs::Node> changed = change();
  if (changed) return entry_of_file(node, *changed);
  if (!is_absent(changed.error())) return fail(std::move(changed).error());
  const std::shared_ptr<gridfs::File> file = handle ? handle->file() : node.open_file;
  // syncfs(2) makes the kernel send the times of removed files too.
  if (!file && node.unlinked) return setattr_unlinked(ino, changes);
  if (!file) return fail(std::move(changed).error());
  // The file has no name any more. Only the open file is left.
  if (changes.size) {
    GM_TRY(file->truncate(*changes.size, gridfs::TimeUpdate::kNow));
  }
  // The callback must not use the open file. Another thread may hold the lock of the file while it
  // waits for the transaction of this change.
  gridfs::FilesDocument document = file->document();
  GM_TRY(file->change_posix([&](gridfs::PosixFields now) -> Result<gridfs::PosixFields> {
    document.posix = now;
    const gridfs::Attributes shown = unlinked_attributes(document, buckets_.settings().paths);
    now.mode = shown.mode;
    gridfs::PosixFields posix;
    if (changes.permissions) {
      gridfs::add_permissions(now, *changes.permissions, posix);
    } else if (changes.clears_set_id) {
      posix.mode = gridfs::without_set_id(shown.mode, shown.gid, changes.may_keep_group_id);
    }
    posix.uid = changes.uid;
    posix.gid = changes.gid;
    posix.atime = changes.atime;
    posix.mtime = changes.mtime;
    posix.ctime = changes.ctime;
    if (!posix.ctime) posix.ctime = gridfs::file_time_now();
    return posix;
  }));
  record_changed(node, *file);
  return EntryReply{ino, unlinked_attributes(file->document(), buckets_.settings().paths),
                    node_cache_seconds()};
}

Result<std::string> FileSystem::readlink(uint64_t ino) {
  TreeReadLock lock(moves_, tree_mutex_, ino);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.kind != InodeKind::kFile) {
    return fail(kInvalidArgument, "node " + std::to_string(ino) + " is not a symbolic link");
  }
  Result<std::string> target = link_target(node);
  const bool is_unlinked = !target && is_absent(target.error()) && node.unlinked;
  if (is_unlinked && node.unlinked->posix.symlink_target)
    return *node.unlinked->posix.symlink_target;
  return target;
}

Result<std::string> FileSystem::link_target(const ResolvedNode& node) {
  GM_ASSIGN(auto paths, node.bucket->paths());
  return paths->readlink(node.id);
}

}  // namespace gridmount::fuse
