// Attributes, open files, listings, and the end of FileSystem.
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

// A listing must show some number. Programs that need the right one request it.
constexpr uint64_t kUnknownNumber = UINT32_MAX;

double cache_seconds(const ResolvedNode& node) {
  const bool shared = node.kind == InodeKind::kMountRoot ||
                      (node.kind == InodeKind::kBucketRoot && node.ino != kRootNode);
  return shared ? kCacheBriefly : kCacheForever;
}

}  // namespace

FileHandle::~FileHandle() {
  go_on_with(nullptr);
  paths.reset();
  if (bucket) bucket->handles().fetch_sub(1);
}

Entry FileSystem::entry_of_file(const ResolvedNode& node, const gridfs::Node& file) const {
  Entry entry{node.ino, file.attributes, kCacheForever, nlink_race_guard_.concerns(node.ino)};
  // The file has become an earlier revision, and the name leads to another one.
  if (node.unlinked) entry.attributes.nlink = 0;
  return entry;
}

Result<Entry> FileSystem::file_attributes(const ResolvedNode& node,
                                          const gridfs::File* file) const {
  const auto find = [&]() -> Result<gridfs::Node> {
    GM_ASSIGN(auto paths, node.bucket->paths());
    return paths->file(node.id);
  };
  Result<gridfs::Node> named = find();
  if (named) return entry_of_file(node, *named);
  const bool has_gone = is_absent(named.error());
  if (has_gone && file == nullptr && node.unlinked) {
    return Entry{node.ino, node.unlinked->attributes, kCacheForever};
  }
  if (!has_gone || file == nullptr) return fail(std::move(named).error());
  return Entry{node.ino, unlinked_attributes(file->document(), buckets_.settings().paths),
               kCacheForever};
}

Result<Entry> FileSystem::attributes(uint64_t ino, const FileHandle* file) {
  TreeReader lock(moves_, tree_mutex_, ino);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.kind == InodeKind::kFile) {
    return file_attributes(node, file ? file->file().get() : node.open_file.get());
  }
  if (node.is_control()) return view_attributes(node, file);
  if (node.removed) return Entry{ino, node.removed->attributes, kCacheForever};
  if (node.kind == InodeKind::kMountRoot) {
    MutexLock handles_lock(handles_mutex_);
    return Entry{ino, mount_root_attributes(buckets_.settings().paths, mount_root_changed_),
                 kCacheBriefly};
  }
  GM_ASSIGN(auto paths, node.bucket->paths());
  GM_ASSIGN(gridfs::Node found, paths->get_directory(node.path));
  return Entry{ino, found.attributes, cache_seconds(node)};
}

Status FileSystem::start_revision(uint64_t ino) {
  TreeWriter lock(moves_, tree_mutex_);
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
    handle->go_on_with(file);
    table_.set_open_file(handle->ino, file);
  }
  return {};
}

Result<Entry> FileSystem::set_attributes(uint64_t ino, const FileHandle* handle,
                                         const gridfs::AttributeChanges& changes) {
  if (changes.size == 0 && keeps_revisions()) GM_TRY(start_revision(ino));
  TreeReader lock(moves_, tree_mutex_, ino);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.kind == InodeKind::kMountRoot) {
    return fail(kNotPermitted,
                "the root of the mount has no document that could keep its attributes");
  }
  if (node.is_control()) return control_is_read_only();
  // A process that has the directory open may still change it, although nobody else sees that.
  if (node.removed) return set_lost_attributes(ino, changes);
  if (node.kind != InodeKind::kFile) {
    GM_ASSIGN(auto paths, node.bucket->paths());
    GM_ASSIGN(gridfs::Node changed, paths->set_directory_attributes(node.path, changes));
    return Entry{ino, changed.attributes, cache_seconds(node)};
  }
  gridfs::AttributeChanges file_changes = changes;
  // This includes open(2) with O_TRUNC, for which the kernel does not pass the handle that it has
  // just got.
  file_changes.size_may_wait = changes.size && (handle ? handle->for_writing : will_be_closed(ino));
  const auto change = [&]() -> Result<gridfs::Node> {
    GM_ASSIGN(auto paths, node.bucket->paths());
    return paths->set_file_attributes(node.id, file_changes);
  };
  Result<gridfs::Node> changed = change();
  if (changed) return entry_of_file(node, *changed);
  if (!is_absent(changed.error())) return fail(std::move(changed).error());
  const std::shared_ptr<gridfs::File> file = handle ? handle->file() : node.open_file;
  // syncfs(2) makes the kernel send the times of removed files too.
  if (!file && node.unlinked) return set_lost_attributes(ino, changes);
  if (!file) return fail(std::move(changed).error());
  // The file has no name any more. Only the open file is left of it.
  if (changes.size) {
    GM_TRY(file->truncate(*changes.size, gridfs::TimeUpdate::kNow));
  }
  GM_TRY(file->change_posix([&](gridfs::PosixFields now) -> Result<gridfs::PosixFields> {
    const gridfs::Attributes shown =
        unlinked_attributes(file->document(), buckets_.settings().paths);
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
  note_changed(node, *file);
  return Entry{ino, unlinked_attributes(file->document(), buckets_.settings().paths),
               kCacheForever};
}

Result<std::string> FileSystem::read_link(uint64_t ino) {
  TreeReader lock(moves_, tree_mutex_, ino);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.kind != InodeKind::kFile) {
    return fail(kInvalidArgument, "node " + std::to_string(ino) + " is not a symbolic link");
  }
  Result<std::string> target = link_target(node);
  const bool is_lost = !target && is_absent(target.error()) && node.unlinked;
  if (is_lost && node.unlinked->posix.symlink_target) return *node.unlinked->posix.symlink_target;
  return target;
}

Result<std::string> FileSystem::link_target(const ResolvedNode& node) {
  GM_ASSIGN(auto paths, node.bucket->paths());
  return paths->symlink_target(node.id);
}

Result<FileHandle*> FileSystem::open_file(uint64_t ino,
                                          const std::shared_ptr<MountedBucket>& bucket,
                                          const std::shared_ptr<gridfs::PathNamespace>& paths,
                                          bson::ValueView id, int flags) {
  auto handle = std::make_unique<FileHandle>();
  handle->ino = ino;
  // Counted before the file opens, so that the bucket is not retired in between.
  handle->bucket = bucket;
  bucket->handles().fetch_add(1);
  handle->paths = paths;
  handle->for_writing = (flags & O_ACCMODE) != O_RDONLY;
  handle->counts_as_reading = (flags & O_ACCMODE) != O_WRONLY && (flags & O_NOATIME) == 0;
  // A file without a name is found only through its open handles.
  std::optional<ResolvedNode> node = table_.resolve(ino);
  if (node && node->open_file) {
    handle->go_on_with(std::move(node->open_file));
  } else {
    GM_ASSIGN(const std::shared_ptr<gridfs::File> file, paths->open_file(id));
    table_.set_open_file(ino, file);
    handle->go_on_with(file);
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
  TreeReader lock(moves_, tree_mutex_, ino);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.kind == InodeKind::kControlFile) return open_control(node, flags);
  if (node.kind != InodeKind::kFile) {
    return fail(gridfs::kIsADirectory, "node " + std::to_string(ino) + " is a folder");
  }
  GM_ASSIGN(auto paths, node.bucket->paths());
  return open_file(ino, node.bucket, paths, node.id, flags);
}

Result<std::pair<Entry, FileHandle*>> FileSystem::create_or_open(uint64_t parent,
                                                                 std::string_view name,
                                                                 uint32_t mode, int flags,
                                                                 gridfs::Creator creator,
                                                                 bool& existed) {
  TreeReader lock(moves_, tree_mutex_, parent);
  GM_ASSIGN(Directory in, directory(parent, "a file"));
  Result<gridfs::Node> made = in.paths->create_file(in.node.path, name, mode, creator);
  existed = !made && made.error().code() == gridfs::kEntryExists;
  if (existed && (flags & O_EXCL) == 0) {
    // The kernel believed the name to be free, but somebody else has just taken it.
    made = in.paths->lookup(in.node.path, name);
    if (made && made->kind == gridfs::NodeKind::kDirectory) {
      return fail(gridfs::kIsADirectory, std::string(name) + " is a folder");
    }
  }
  if (!made) return fail(std::move(made).error());
  GM_ASSIGN(Entry entry, entry_of(in.node, name, *made));
  Result<FileHandle*> file = open_file(entry.ino, in.node.bucket, in.paths, made->id, flags);
  if (!file) {
    table_.forget(entry.ino, 1);
    return fail(std::move(file).error());
  }
  return std::pair{entry, *file};
}

Result<std::pair<Entry, FileHandle*>> FileSystem::create(uint64_t parent, std::string_view name,
                                                         uint32_t mode, int flags,
                                                         gridfs::Creator creator) {
  bool existed = false;
  GM_ASSIGN(auto created, create_or_open(parent, name, mode, flags, creator, existed));
  if (!existed || (flags & O_TRUNC) == 0) return created;
  // The kernel takes the file for new and will not truncate it.
  gridfs::AttributeChanges cut;
  cut.size = 0;
  cut.clears_set_id = true;
  Result<Entry> emptied = set_attributes(created.first.ino, created.second, cut);
  if (!emptied) {
    release(created.second);
    table_.forget(created.first.ino, 1);
    return fail(std::move(emptied).error());
  }
  created.first.attributes = emptied->attributes;
  return created;
}

Result<std::pair<Entry, FileHandle*>> FileSystem::create_tmpfile(uint64_t parent, uint32_t mode,
                                                                 int flags,
                                                                 gridfs::Creator creator) {
  TreeReader lock(moves_, tree_mutex_, parent);
  GM_ASSIGN(const Directory in, directory(parent, "a file"));
  GM_ASSIGN(const gridfs::PathNamespace::Tmpfile made,
            in.paths->create_tmpfile(in.node.path, mode, creator));
  Entry entry{0, made.node.attributes, kCacheForever};
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

Result<std::vector<std::string>> FileSystem::shown_bucket_names() const {
  GM_ASSIGN(std::vector<std::string> names, buckets_.names());
  for (std::string& name : names) name = gridfs::escape_component(name, false);
  return names;
}

Result<DirectoryHandle*> FileSystem::open_directory(uint64_t ino, int flags) {
  TreeReader lock(moves_, tree_mutex_, ino);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  std::unique_ptr<DirectoryHandle> handle;
  if (!node.is_directory()) {
    return fail(gridfs::kNotADirectory, "node " + std::to_string(ino) + " is not a directory");
  }
  if (node.kind == InodeKind::kMountRoot) {
    GM_ASSIGN(std::vector<std::string> names, shown_bucket_names());
    handle = std::make_unique<DirectoryHandle>(ino, std::move(names));
  } else if (node.removed) {
    // Somebody's working directory that was removed. It is empty.
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

void FileSystem::release(DirectoryHandle* directory) {
  {
    MutexLock lock(handles_mutex_);
    open_directories_.erase(directory);
  }
  delete directory;
}

Status FileSystem::read_directory(DirectoryHandle& directory, uint64_t offset, bool lookup_each,
                                  Lister& lister) {
  TreeReader lock(moves_, tree_mutex_, directory.ino());
  GM_ASSIGN(ResolvedNode node, resolve(directory.ino()));
  // A removed directory is empty. Its old path may lead to another directory now.
  if (node.removed) return {};
  MutexLock directory_lock(directory.mutex());
  if (directory.lists_buckets() && offset == 0) {
    GM_ASSIGN(std::vector<std::string> names, shown_bucket_names());
    directory.set_bucket_names(std::move(names));
  }
  GM_TRY(directory.seek(offset, node.path));
  if (offset == 0) directory.note_read();
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
        // Without attributes, because they would require opening every bucket.
        lister.add(entry, table_.ino_of_directory(node.ino, entry.name, bucket_ino(entry.name)),
                   S_IFDIR, nullptr);
        break;
      case ListedEntry::Kind::kNode: {
        const gridfs::Node& child = *entry.node;
        const uint32_t type = child.attributes.mode & S_IFMT;
        if (node.is_control()) {
          // Without attributes, because they would require a look-up of each entry.
          lister.add(entry, table_.ino_of_directory(node.ino, entry.name, kUnknownNumber), type,
                     nullptr);
        } else if (lookup_each) {
          Result<Entry> found = entry_of(node, entry.name, child);
          if (!found) return first ? Status(fail(std::move(found).error())) : Status();
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

Result<engine::StoreStats> FileSystem::stats() {
  return buckets_.store().stats();
}

Status FileSystem::make_durable() {
  return buckets_.store().make_durable();
}

Status FileSystem::close() {
  std::unordered_set<FileHandle*> files;
  std::unordered_set<DirectoryHandle*> directories;
  {
    MutexLock lock(handles_mutex_);
    files.swap(open_files_);
    writers_.clear();
    directories.swap(open_directories_);
  }
  for (DirectoryHandle* directory : directories) delete directory;
  Status closed;
  for (FileHandle* file : files) {
    // The process that wrote to the file has not closed it, so it will not see the error.
    if (file->for_writing) {
      Status flushed = file->file()->flush();
      if (!flushed && closed) closed = std::move(flushed);
    }
    delete file;
  }
  Status buckets = buckets_.close();
  if (!buckets && closed) closed = std::move(buckets);
  if (buckets_.store().read_only()) return closed;
  Status durable = make_durable();
  if (!durable && closed) closed = std::move(durable);
  return closed;
}

}  // namespace gridmount::fuse
