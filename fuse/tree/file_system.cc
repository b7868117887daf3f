// FileSystem: look-up, creation, removal and rename of names, statfs, syncfs, and close(). The
// other operations are in file_system_*.cc.
#include "fuse/tree/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "fuse/errno.h"
#include "fuse/tree/attributes.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"

namespace gridmount::fuse {

namespace {

// Returns the bucket that a child of a root of buckets stands for.
Result<std::string> bucket_name(std::string_view shown) {
  GM_ASSIGN(gridfs::ParsedName parsed, gridfs::parse_name(shown, false));
  if (parsed.kind != gridfs::ParsedName::Kind::kPlain) {
    return fail(gridfs::kInvalidName, "no bucket can be named " + std::string(shown));
  }
  return parsed.component;
}

bool is_control_directory(const ResolvedNode& parent, std::string_view name) {
  return parent.kind == InodeKind::kBucketRoot && name == kControlDirectoryName;
}

// Returns true if the error means that no file and no directory can have the name.
bool is_impossible_name(const Error& error) {
  return error.code() == gridfs::kInvalidName;
}

}  // namespace

FileSystem::FileSystem(Buckets& buckets, std::shared_ptr<MountedBucket> root_bucket)
    : buckets_(buckets),
      has_root_bucket_(root_bucket != nullptr),
      table_(std::move(root_bucket)),
      room_(buckets.store()),
      mount_root_changed_(gridfs::file_time_now()) {
  room_.check();
}

FileSystem::~FileSystem() {
  MutexLock lock(handles_mutex_);
  for (FileHandle* file : open_files_) delete file;
  for (DirectoryHandle* directory : open_directories_) delete directory;
}

Result<ResolvedNode> FileSystem::resolve(uint64_t ino) const {
  std::optional<ResolvedNode> node = table_.resolve(ino);
  if (!node) return fail(kStaleNode, "node " + std::to_string(ino) + " is not known any more");
  return *std::move(node);
}

Result<FileSystem::Directory> FileSystem::directory(uint64_t ino, std::string_view purpose) const {
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (!node.is_directory()) {
    return fail(gridfs::kNotADirectory, "node " + std::to_string(ino) + " is not a directory");
  }
  if (node.is_control()) return control_is_read_only();
  if (node.removed) {
    return fail(gridfs::kNoSuchEntry, "directory " + node.path + " has been removed");
  }
  if (node.kind == InodeKind::kMountRoot) {
    return fail(kNotPermitted, "the root of the mount can only contain buckets, not " +
                                   std::string(purpose) + ": put it into one of them");
  }
  GM_ASSIGN(auto paths, node.bucket->paths());
  return Directory{std::move(node), std::move(paths)};
}

Result<EntryReply> FileSystem::bucket_entry(std::string_view name,
                                            const std::shared_ptr<MountedBucket>& bucket) {
  GM_ASSIGN(auto paths, bucket->paths());
  GM_ASSIGN(gridfs::Node root, paths->root());
  const uint64_t ino = table_.acquire_bucket(name, bucket, bucket_ino(name));
  return EntryReply{ino, root.attributes, bucket_cache_seconds()};
}

Result<EntryReply> FileSystem::entry_of(const ResolvedNode& parent, std::string_view name,
                                        const gridfs::Node& node) {
  EntryReply entry{0, node.attributes, node_cache_seconds()};
  if (node.kind == gridfs::NodeKind::kFile) {
    entry.ino = table_.acquire_file(parent.bucket, node.id, node.ino);
    if (notes_file_names()) table_.note_file_name(entry.ino, parent.ino, name);
    entry.attributes_pass = nlink_race_guard_.concerns(entry.ino);
    return entry;
  }
  entry.ino = table_.acquire_directory(parent.ino, name, node.path, node.ino, node.id);
  if (entry.ino == 0) {
    return fail(kStaleNode, "the directory of " + std::string(name) + " is not known any more");
  }
  return entry;
}

double FileSystem::absence_seconds(uint64_t parent) const {
  std::optional<ResolvedNode> node = table_.resolve(parent);
  // An absence is not cached in a root of buckets, where a driver may create a bucket, or in the
  // control directory, whose entries come and go with files.
  const bool is_known = node && node->kind != InodeKind::kMountRoot && !node->is_control();
  if (!is_known) return 0;
  const std::chrono::duration<double> known = buckets_.settings().paths.directory_age_max;
  return node_cache_seconds() - known.count();
}

Result<EntryReply> FileSystem::lookup(uint64_t parent, std::string_view name) {
  TreeReadLock lock(moves_, tree_mutex_, parent);
  GM_ASSIGN(ResolvedNode node, resolve(parent));
  if (node.kind == InodeKind::kMountRoot) {
    auto bucket = bucket_name(name);
    if (!bucket && is_impossible_name(bucket.error())) {
      return fail(gridfs::kNoSuchEntry, bucket.error().message());
    }
    if (!bucket) return fail(std::move(bucket).error());
    GM_ASSIGN(auto mounted, buckets_.find(*bucket));
    return bucket_entry(name, mounted);
  }
  if (is_control_directory(node, name)) return control_entry(node, name, "");
  if (node.kind == InodeKind::kControlDirectory) {
    return control_entry(node, name, gridfs::join(node.path, name));
  }
  GM_ASSIGN(Directory in, directory(parent, name));
  const KnownWithoutXattrs::Moment before = moment();
  Result<gridfs::Node> found = in.paths->lookup(in.node.path, name);
  if (!found && is_impossible_name(found.error())) {
    return fail(gridfs::kNoSuchEntry, found.error().message());
  }
  if (!found) return fail(std::move(found).error());
  GM_ASSIGN(const EntryReply entry, entry_of(in.node, name, *found));
  note_xattrs(entry.ino, *found, before);
  return entry;
}

Result<EntryReply> FileSystem::mkdir(uint64_t parent, std::string_view name, uint32_t mode,
                                     gridfs::Creator creator) {
  {
    TreeReadLock lock(moves_, tree_mutex_, parent);
    GM_ASSIGN(ResolvedNode node, resolve(parent));
    if (node.kind != InodeKind::kMountRoot) {
      GM_ASSIGN(Directory in, directory(parent, "a directory"));
      GM_ASSIGN(gridfs::Node made, in.paths->mkdir(in.node.path, name, mode, creator));
      return entry_of(in.node, name, made);
    }
  }
  TreeWriteLock lock(moves_, tree_mutex_);
  GM_ASSIGN(std::string bucket, bucket_name(name));
  GM_ASSIGN(auto mounted, buckets_.create(bucket));
  GM_ASSIGN(auto paths, mounted->paths());
  gridfs::AttributeChanges attributes;
  attributes.permissions = mode & ~creator.umask;
  attributes.uid = creator.uid;
  attributes.gid = creator.gid;
  if (auto set = paths->setattr_directory("", attributes); !set) {
    // A missing bucket is better than a bucket with the wrong owner. The first error is reported.
    (void)buckets_.remove(bucket);
    return fail(std::move(set).error());
  }
  touch_mount_root();
  return bucket_entry(name, mounted);
}

Result<EntryReply> FileSystem::create_file(uint64_t parent, std::string_view name, uint32_t mode,
                                           gridfs::Creator creator) {
  TreeReadLock lock(moves_, tree_mutex_, parent);
  GM_ASSIGN(Directory in, directory(parent, "a file"));
  GM_ASSIGN(gridfs::Node made, in.paths->create_file(in.node.path, name, mode, creator));
  return entry_of(in.node, name, made);
}

Result<EntryReply> FileSystem::mknod(uint64_t parent, std::string_view name, uint32_t mode,
                                     uint64_t rdev, gridfs::Creator creator) {
  TreeReadLock lock(moves_, tree_mutex_, parent);
  GM_ASSIGN(Directory in, directory(parent, "a pipe, socket or device"));
  GM_ASSIGN(gridfs::Node made, in.paths->mknod(in.node.path, name, mode, rdev, creator));
  return entry_of(in.node, name, made);
}

Result<EntryReply> FileSystem::symlink(uint64_t parent, std::string_view name,
                                       std::string_view target, gridfs::Creator creator) {
  TreeReadLock lock(moves_, tree_mutex_, parent);
  GM_ASSIGN(Directory in, directory(parent, "a symbolic link"));
  GM_ASSIGN(gridfs::Node made, in.paths->symlink(in.node.path, name, target, creator));
  return entry_of(in.node, name, made);
}

Result<EntryReply> FileSystem::link(uint64_t ino, uint64_t parent, std::string_view name) {
  TreeReadLock lock(moves_, tree_mutex_, parent);
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.is_control()) return control_is_read_only();
  if (node.kind != InodeKind::kFile) {
    return fail(kNotPermitted, "node " + std::to_string(ino) + " is a directory");
  }
  // A file that has become an earlier revision gets no new names.
  if (node.unlinked) return fail(gridfs::kNoSuchEntry, "the file has lost its last name");
  GM_ASSIGN(Directory in, directory(parent, "a file"));
  if (in.node.bucket != node.bucket) {
    return fail(gridfs::kCrossBucket,
                std::string(name) +
                    " would be in another bucket; a link must be in the bucket of its file");
  }
  GM_ASSIGN(gridfs::Node linked, in.paths->link(node.id, in.node.path, name));
  return entry_of(in.node, name, linked);
}

Status FileSystem::unlink(uint64_t parent, std::string_view name) {
  TreeReadLock lock(moves_, tree_mutex_, parent);
  GM_ASSIGN(ResolvedNode node, resolve(parent));
  if (node.kind == InodeKind::kMountRoot) {
    return fail(gridfs::kIsADirectory, std::string(name) + " is a bucket");
  }
  if (is_control_directory(node, name)) return control_is_read_only();
  GM_ASSIGN(Directory in, directory(parent, name));
  std::optional<NlinkRaceGuard::Loss> loss;
  if (in.paths->has_links()) loss.emplace(nlink_race_guard_);
  GM_ASSIGN(gridfs::RemovedName last, in.paths->unlink(in.node.path, name));
  record_removed_name(in, std::move(last));
  if (notes_file_names()) table_.note_file_name_removed(parent, name);
  return {};
}

Status FileSystem::rmdir(uint64_t parent, std::string_view name) {
  {
    TreeReadLock lock(moves_, tree_mutex_, parent);
    GM_ASSIGN(ResolvedNode node, resolve(parent));
    if (is_control_directory(node, name)) return control_is_read_only();
    if (node.kind != InodeKind::kMountRoot) {
      GM_ASSIGN(Directory in, directory(parent, name));
      GM_ASSIGN(const gridfs::Node directory, in.paths->lookup(in.node.path, name));
      UnlinkedNode last;
      if (directory.kind == gridfs::NodeKind::kDirectory) {
        GM_ASSIGN(last, last_of(*in.paths, directory));
      }
      GM_TRY(in.paths->rmdir(in.node.path, name));
      table_.remove_directory(parent, name, std::move(last));
      return {};
    }
  }
  TreeWriteLock lock(moves_, tree_mutex_);
  GM_ASSIGN(std::string bucket, bucket_name(name));
  GM_ASSIGN(auto mounted, buckets_.find(bucket));
  UnlinkedNode last;
  {
    GM_ASSIGN(auto paths, mounted->paths());
    GM_ASSIGN(const gridfs::Node root, paths->root());
    GM_ASSIGN(last, last_of(*paths, root));
  }
  GM_TRY(buckets_.remove(bucket));
  table_.remove_directory(parent, name, std::move(last));
  touch_mount_root();
  return {};
}

Status FileSystem::rename(uint64_t from_parent, std::string_view from_name, uint64_t to_parent,
                          std::string_view to_name, gridfs::RenameMode mode,
                          const Whiteout& whiteout) {
  {
    TreeReadLock lock(moves_, tree_mutex_, from_parent, to_parent);
    GM_ASSIGN(ResolvedNode from_node, resolve(from_parent));
    GM_ASSIGN(ResolvedNode to_node, resolve(to_parent));
    if (is_control_directory(from_node, from_name) || is_control_directory(to_node, to_name)) {
      return control_is_read_only();
    }
    if (from_node.bucket != to_node.bucket) {
      return fail(gridfs::kCrossBucket,
                  std::string(from_name) + " cannot be moved to another bucket, only copied");
    }
    if (from_node.kind != InodeKind::kMountRoot && !keeps_revisions() &&
        !moves_directory(from_parent, from_name, to_parent, to_name, mode)) {
      GM_ASSIGN(Directory from, directory(from_parent, from_name));
      GM_ASSIGN(Directory to, directory(to_parent, to_name));
      return rename_in(from, from_name, to, to_name, mode, whiteout);
    }
  }
  std::optional<MovedNames> names;
  {
    TreeWriteLock lock(moves_, tree_mutex_);
    GM_ASSIGN(ResolvedNode root, resolve(from_parent));
    if (root.kind == InodeKind::kMountRoot && whiteout) {
      return fail(kInvalidArgument, "a bucket cannot be replaced by a whiteout");
    }
    if (root.kind == InodeKind::kMountRoot) return rename_bucket(from_name, to_name, mode);
    GM_ASSIGN(Directory from, directory(from_parent, from_name));
    GM_ASSIGN(Directory to, directory(to_parent, to_name));
    if (!moves_directory(from_parent, from_name, to_parent, to_name, mode)) {
      return rename_in(from, from_name, to, to_name, mode, whiteout);
    }
    names = MovedNames{.from = std::move(from),
                       .from_name = std::string(from_name),
                       .to = std::move(to),
                       .to_name = std::string(to_name),
                       .mode = mode,
                       .whiteout = whiteout,
                       .one = table_.find_directory(from_parent, from_name),
                       .other = table_.find_directory(to_parent, to_name),
                       .replaced = {}};
    std::vector<uint64_t> moving;
    for (const auto& ino : {names->one, names->other}) {
      if (ino) moving.push_back(*ino);
    }
    moves_.begin(std::move(moving));
  }
  const DirectoryMoves::End end(moves_, tree_mutex_);
  GM_TRY(move_in_store(*names));
  WriterLock lock(tree_mutex_);
  return move_in_table(*names);
}

// The kernel looks a directory up before it renames it, so the directory is in the table.
bool FileSystem::moves_directory(uint64_t from_parent, std::string_view from_name,
                                 uint64_t to_parent, std::string_view to_name,
                                 gridfs::RenameMode mode) const {
  return table_.find_directory(from_parent, from_name) ||
         (mode == gridfs::RenameMode::kExchange && table_.find_directory(to_parent, to_name));
}

void FileSystem::record_removed_name(const Directory& in, gridfs::RemovedName last) {
  const gridfs::Node& file = last.node;
  if (file.attributes.nlink != 0) {
    return nlink_race_guard_.note(table_.ino_of_file(in.node.bucket.get(), file.id, 0));
  }
  table_.remove_file(in.node.bucket.get(), file.id,
                     UnlinkedNode(file.attributes, std::move(last.posix)));
}

Result<UnlinkedNode> FileSystem::last_of(gridfs::PathNamespace& paths,
                                         const gridfs::Node& directory) {
  GM_ASSIGN(gridfs::PosixFields posix, paths.directory_posix(directory.path));
  return UnlinkedNode(directory.attributes, std::move(posix));
}

Status FileSystem::rename_in(const Directory& from, std::string_view from_name, const Directory& to,
                             std::string_view to_name, gridfs::RenameMode mode,
                             const Whiteout& whiteout) {
  std::optional<NlinkRaceGuard::Loss> loss;
  if (from.paths->has_links()) loss.emplace(nlink_race_guard_);
  gridfs::PathNamespace& paths = *from.paths;
  GM_ASSIGN(std::optional<gridfs::RemovedName> replaced,
            whiteout ? paths.rename_leaving_whiteout(from.node.path, from_name, to.node.path,
                                                     to_name, mode, *whiteout)
                     : paths.rename(from.node.path, from_name, to.node.path, to_name, mode));
  if (replaced) record_removed_name(to, *std::move(replaced));
  if (notes_file_names()) {
    table_.note_file_renamed({from.node.ino, std::string(from_name)},
                             {to.node.ino, std::string(to_name)},
                             mode == gridfs::RenameMode::kExchange);
  }
  return {};
}

Status FileSystem::move_in_store(MovedNames& names) {
  if (names.mode != gridfs::RenameMode::kExchange && names.other) {
    GM_ASSIGN(const gridfs::Node target, names.to.paths->lookup(names.to.node.path, names.to_name));
    if (target.kind == gridfs::NodeKind::kDirectory) {
      GM_ASSIGN(names.replaced, last_of(*names.to.paths, target));
    }
  }
  return rename_in(names.from, names.from_name, names.to, names.to_name, names.mode,
                   names.whiteout);
}

Status FileSystem::move_in_table(const MovedNames& names) {
  const uint64_t from = names.from.node.ino;
  const uint64_t to = names.to.node.ino;
  if (from == to && names.from_name == names.to_name) return {};
  if (names.mode == gridfs::RenameMode::kExchange) {
    exchange_in_table(names);
    return {};
  }
  if (names.other) table_.remove_directory(to, names.to_name, names.replaced);
  Result<gridfs::Node> moved = names.to.paths->lookup(names.to.node.path, names.to_name);
  if (!moved || moved->kind != gridfs::NodeKind::kDirectory) {
    // The new path of the directory is unknown. Removing the directory from the table is better
    // than a wrong path.
    table_.remove_directory(from, names.from_name, names.replaced);
    if (!moved) return fail(std::move(moved).error());
    return {};
  }
  table_.move_directory(from, names.from_name, to, names.to_name, moved->path);
  return {};
}

void FileSystem::exchange_in_table(const MovedNames& names) {
  const uint64_t from = names.from.node.ino;
  const uint64_t to = names.to.node.ino;
  // Returns the present path. If it cannot be read, the directory gets a path that leads nowhere.
  const auto path_of = [](const Directory& in, std::string_view name) {
    const Result<gridfs::Node> node = in.paths->lookup(in.node.path, name);
    return node ? node->path : std::string("/");
  };
  const std::string path_of_one = path_of(names.to, names.to_name);
  // No name has a slash, so this one is free.
  constexpr std::string_view kBetween = "/";
  if (names.one) table_.move_directory(from, names.from_name, from, kBetween, path_of_one);
  if (names.other) {
    table_.move_directory(to, names.to_name, from, names.from_name,
                          path_of(names.from, names.from_name));
  }
  if (names.one) table_.move_directory(from, kBetween, to, names.to_name, path_of_one);
}

Status FileSystem::rename_bucket(std::string_view from_name, std::string_view to_name,
                                 gridfs::RenameMode mode) {
  GM_ASSIGN(std::string from, bucket_name(from_name));
  GM_ASSIGN(std::string to, bucket_name(to_name));
  if (from == to) return {};
  if (mode == gridfs::RenameMode::kExchange) {
    return fail(kInvalidArgument, "two buckets cannot be exchanged");
  }
  std::optional<UnlinkedNode> replaced;
  Result<std::shared_ptr<MountedBucket>> target = buckets_.find(to);
  if (target) {
    if (mode == gridfs::RenameMode::kNoReplace) {
      return fail(gridfs::kEntryExists, "bucket " + to + " exists already");
    }
    // As in rename(2), an empty target is replaced.
    GM_ASSIGN(auto paths, (*target)->paths());
    GM_ASSIGN(const gridfs::Node root, paths->root());
    GM_ASSIGN(replaced, last_of(*paths, root));
  } else if (target.error().code() != gridfs::kNoSuchEntry) {
    return fail(std::move(target).error());
  }
  GM_TRY(buckets_.rename(from, to, replaced.has_value()));
  if (replaced) table_.remove_directory(kRootNode, to_name, *std::move(replaced));
  table_.move_directory(kRootNode, from_name, kRootNode, to_name, "");
  touch_mount_root();
  return {};
}

void FileSystem::touch_mount_root() {
  MutexLock lock(handles_mutex_);
  mount_root_changed_ = gridfs::file_time_now();
}

Result<engine::StoreStats> FileSystem::statfs() {
  return buckets_.store().stats();
}

Status FileSystem::make_durable() {
  return buckets_.store().make_durable();
}

Status FileSystem::close() {
  {
    // A client's command that could not be ended may still report its changes.
    WriterLock lock(tree_mutex_);
    is_closed_ = true;
  }
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
