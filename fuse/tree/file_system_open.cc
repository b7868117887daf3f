// FileSystem: open, create and release of files.
#include <fcntl.h>
#include <sys/stat.h>

#include "fuse/errno.h"
#include "fuse/tree/attributes.h"
#include "fuse/tree/file_system.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/posix_changes.h"

namespace gridmount::fuse {

FileHandle::~FileHandle() {
  set_file(nullptr);
  paths.reset();
  if (bucket) bucket->handles().fetch_sub(1);
}

Result<FileHandle*> FileSystem::open_file(uint64_t ino,
                                          const std::shared_ptr<MountedBucket>& bucket,
                                          const std::shared_ptr<gridfs::PathNamespace>& paths,
                                          bson::ValueView id, int flags,
                                          std::shared_ptr<gridfs::File> opened) {
  auto handle = std::make_unique<FileHandle>();
  handle->ino = ino;
  // The handle is counted before the file opens, so that the bucket is not retired in between.
  handle->bucket = bucket;
  bucket->handles().fetch_add(1);
  handle->paths = paths;
  handle->for_writing = (flags & O_ACCMODE) != O_RDONLY;
  handle->counts_as_reading = (flags & O_ACCMODE) != O_WRONLY && (flags & O_NOATIME) == 0;
  // A file without a name is found only through its open handles.
  std::optional<ResolvedNode> node = table_.resolve(ino);
  if (node && node->open_file) {
    handle->set_file(std::move(node->open_file));
  } else {
    if (!opened) {
      // The kernel reads the content only if its cache has none of it.
      const bool reads = is_shared() && !handle->for_writing && !seen_contents_.has(ino);
      GM_ASSIGN(opened, reads ? paths->open_file_to_read(id) : paths->open_file(id));
    }
    table_.set_open_file(ino, opened);
    handle->set_file(std::move(opened));
  }
  return add_open(std::move(handle));
}

FileHandle* FileSystem::add_open(std::unique_ptr<FileHandle> handle) {
  MutexLock lock(handles_mutex_);
  open_files_.insert(handle.get());
  if (handle->for_writing) {
    Writers& writers = writers_[handle->ino];
    ++writers.open;
    ++writers.not_closed;
  }
  return handle.release();
}

Result<FileHandle*> FileSystem::open(uint64_t ino, int flags) {
  TreeReadLock lock(moves_, tree_mutex_, ino);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.kind == InodeKind::kControlFile) return open_control(node, flags);
  if (node.kind != InodeKind::kFile) {
    return fail(gridfs::kIsADirectory, "node " + std::to_string(ino) + " is a directory");
  }
  GM_ASSIGN(auto paths, node.bucket->paths());
  return open_file(ino, node.bucket, paths, node.id, flags);
}

Result<std::pair<EntryReply, FileHandle*>> FileSystem::create_or_open(uint64_t parent,
                                                                      std::string_view name,
                                                                      uint32_t mode, int flags,
                                                                      gridfs::Creator creator,
                                                                      bool& existed) {
  TreeReadLock lock(moves_, tree_mutex_, parent);
  GM_ASSIGN(Directory in, directory(parent, "a file"));
  const KnownWithoutXattrs::Moment before = moment();
  using OpenedFile = gridfs::PathNamespace::OpenedFile;
  Result<OpenedFile> made = in.paths->create_open_file(in.node.path, name, mode, creator);
  existed = !made && made.error().code() == gridfs::kEntryExists;
  if (existed && (flags & O_EXCL) == 0) {
    // The kernel believed the name to be free, but somebody else has just taken it.
    GM_ASSIGN(gridfs::Node found, in.paths->lookup(in.node.path, name));
    if (found.kind == gridfs::NodeKind::kDirectory) {
      return fail(gridfs::kIsADirectory, std::string(name) + " is a directory");
    }
    made = OpenedFile{std::move(found), nullptr};
  }
  if (!made) return fail(std::move(made).error());
  const gridfs::Node& node = made->node;
  GM_ASSIGN(EntryReply entry, entry_of(in.node, name, node));
  note_xattrs(entry.ino, node, before);
  Result<FileHandle*> file =
      open_file(entry.ino, in.node.bucket, in.paths, node.id, flags, std::move(made->file));
  if (!file) {
    table_.forget(entry.ino, 1);
    return fail(std::move(file).error());
  }
  return std::pair{entry, *file};
}

Result<std::pair<EntryReply, FileHandle*>> FileSystem::create(uint64_t parent,
                                                              std::string_view name, uint32_t mode,
                                                              int flags, gridfs::Creator creator) {
  bool existed = false;
  GM_ASSIGN(auto created, create_or_open(parent, name, mode, flags, creator, existed));
  if (!existed || (flags & O_TRUNC) == 0) return created;
  // The kernel believes that the file is new, and will not truncate it.
  gridfs::AttributeChanges cut;
  cut.size = 0;
  cut.clears_set_id = true;
  Result<EntryReply> emptied = setattr(created.first.ino, created.second, cut);
  if (!emptied) {
    release(created.second);
    table_.forget(created.first.ino, 1);
    return fail(std::move(emptied).error());
  }
  created.first.attributes = emptied->attributes;
  return created;
}

Result<std::pair<EntryReply, FileHandle*>> FileSystem::create_tmpfile(uint64_t parent,
                                                                      uint32_t mode, int flags,
                                                                      gridfs::Creator creator) {
  TreeReadLock lock(moves_, tree_mutex_, parent);
  GM_ASSIGN(const Directory in, directory(parent, "a file"));
  GM_ASSIGN(const gridfs::PathNamespace::OpenedFile made,
            in.paths->create_tmpfile(in.node.path, mode, creator));
  EntryReply entry{0, made.node.attributes, node_cache_seconds()};
  entry.ino = table_.acquire_file(in.node.bucket, made.node.id, made.node.ino);
  table_.set_open_file(entry.ino, made.file);
  Result<FileHandle*> file = open_file(entry.ino, in.node.bucket, in.paths, made.node.id, flags);
  if (!file) {
    table_.forget(entry.ino, 1);
    return fail(std::move(file).error());
  }
  return std::pair{entry, *file};
}

void FileSystem::release(FileHandle* file) {
  {
    MutexLock lock(handles_mutex_);
    open_files_.erase(file);
    if (file->for_writing) {
      Writers& writers = writers_[file->ino];
      if (!file->was_closed) --writers.not_closed;
      if (--writers.open == 0) writers_.erase(file->ino);
    }
  }
  delete file;
}

}  // namespace gridmount::fuse
