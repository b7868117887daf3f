#include "fuse/tree/inode_table.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace gridmount::fuse {

namespace {

// The state of a directory that a file does not have. It is separate, so that a file's node stays
// small: the kernel may remember millions of them.
struct DirectoryPart {
  std::string name;  // the name that the kernel has
  // The last part of the directory's path, which follows the parent's path: "c", or "/c" if the
  // parent is not the root. For a node of the control directory, its path.
  std::string suffix;
  uint64_t wanted_ino = 0;  // of a control directory node: the ino it asked for
  bool moving = false;
  std::shared_ptr<const UnlinkedNode> removed;
  std::shared_ptr<GeneratedFile> generated;  // of a control directory node
};

size_t mix(size_t a, size_t b) {
  return a ^ (b + 0x9E3779B97F4A7C15U + (a << 6) + (a >> 2));
}

std::string_view bytes_of(bson::ValueView value) {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

}  // namespace

struct InodeTable::Inode {
  uint64_t ino = 0;
  InodeKind kind = InodeKind::kFile;
  uint64_t lookups = 0;
  std::shared_ptr<MountedBucket> bucket;
  // Directories. The root is its own parent and has no directory part.
  Inode* parent = nullptr;
  uint64_t children = 0;  // number of directories in the table that have this one as parent
  std::unique_ptr<DirectoryPart> directory;
  bson::Value id;  // of files and directories: the _id of the document, or null
  // Files only.
  std::weak_ptr<gridfs::File> open_file;
  std::shared_ptr<const UnlinkedNode> unlinked;
};

size_t InodeTable::ByIno::operator()(const std::unique_ptr<Inode>& inode) const {
  return (*this)(inode->ino);
}
bool InodeTable::ByIno::operator()(const std::unique_ptr<Inode>& a, uint64_t b) const {
  return a->ino == b;
}
bool InodeTable::ByIno::operator()(const std::unique_ptr<Inode>& a,
                                   const std::unique_ptr<Inode>& b) const {
  return a->ino == b->ino;
}
size_t InodeTable::ByName::operator()(const NameKey& key) const {
  return mix(std::hash<std::string_view>()(key.name), key.parent);
}
size_t InodeTable::ByName::operator()(const Inode* inode) const {
  return (*this)(NameKey{inode->parent->ino, inode->directory->name});
}
bool InodeTable::ByName::operator()(const Inode* a, const NameKey& b) const {
  return a->parent->ino == b.parent && a->directory->name == b.name;
}
size_t InodeTable::ByFile::operator()(const FileKey& key) const {
  return mix(std::hash<std::string_view>()(bytes_of(key.id)), std::hash<const void*>()(key.bucket));
}
size_t InodeTable::ByFile::operator()(const Inode* inode) const {
  return (*this)(FileKey{inode->bucket.get(), inode->id.view()});
}
bool InodeTable::ByFile::operator()(const Inode* a, const FileKey& b) const {
  return a->bucket.get() == b.bucket && a->id.type() == b.id.type() &&
         bytes_of(a->id.view()) == bytes_of(b.id);
}
bool InodeTable::ByDocument::operator()(const Inode* a, const Inode* b) const {
  return ByFile()(a, FileKey{b->bucket.get(), b->id.view()});
}

InodeTable::InodeTable(std::shared_ptr<MountedBucket> root_bucket) {
  MutexLock lock(mutex_);
  Inode* root = add(root_bucket ? InodeKind::kBucketRoot : InodeKind::kMountRoot, kRootNode);
  root->parent = root;
  root->bucket = std::move(root_bucket);
  root->lookups = 1;  // never forgotten
}

InodeTable::~InodeTable() = default;

uint64_t InodeTable::acquire_bucket(std::string_view name,
                                    const std::shared_ptr<MountedBucket>& bucket,
                                    uint64_t wanted_ino) {
  MutexLock lock(mutex_);
  auto found = directories_.find(NameKey{kRootNode, name});
  if (found != directories_.end() && (*found)->bucket == bucket) {
    ++(*found)->lookups;
    return (*found)->ino;
  }
  if (found != directories_.end()) {
    // The bucket was dropped and created again from outside.
    UnlinkedNode unknown;
    unknown.attributes.mode = S_IFDIR;
    (*found)->directory->removed = std::make_shared<const UnlinkedNode>(std::move(unknown));
    directories_.erase(found);
  }
  Inode* inode = add(InodeKind::kBucketRoot, wanted_ino);
  inode->bucket = bucket;
  inode->lookups = 1;
  attach(inode, find(kRootNode), name);
  return inode->ino;
}

uint64_t InodeTable::acquire_directory(uint64_t parent_ino, std::string_view name,
                                       std::string_view path, uint64_t wanted_ino,
                                       const bson::Value& id) {
  MutexLock lock(mutex_);
  auto found = directories_.find(NameKey{parent_ino, name});
  if (found != directories_.end()) {
    if ((*found)->kind == InodeKind::kDirectory && !((*found)->id == id)) {
      unset_document(*found);
      set_document(*found, id);
    }
    ++(*found)->lookups;
    return (*found)->ino;
  }
  Inode* parent = find(parent_ino);
  if (parent == nullptr) return 0;
  Inode* inode = add(InodeKind::kDirectory, wanted_ino);
  inode->bucket = parent->bucket;
  inode->lookups = 1;
  attach(inode, parent, name);
  inode->directory->suffix = path.substr(std::min(path.size(), path_bytes(parent)));
  set_document(inode, id);
  return inode->ino;
}

uint64_t InodeTable::acquire_file(const std::shared_ptr<MountedBucket>& bucket, bson::ValueView id,
                                  uint64_t wanted_ino) {
  MutexLock lock(mutex_);
  auto found = files_.find(FileKey{bucket.get(), id});
  if (found != files_.end()) {
    ++(*found)->lookups;
    return (*found)->ino;
  }
  Inode* inode = add(InodeKind::kFile, wanted_ino);
  inode->bucket = bucket;
  inode->id = bson::Value(id);
  files_.insert(inode);
  inode->lookups = 1;
  return inode->ino;
}

uint64_t InodeTable::acquire_control(uint64_t parent_ino, std::string_view name, InodeKind kind,
                                     std::string_view path, const bson::Value& id,
                                     const std::shared_ptr<GeneratedFile>& generated,
                                     uint64_t wanted_ino) {
  MutexLock lock(mutex_);
  const auto found = directories_.find(NameKey{parent_ino, name});
  if (found != directories_.end()) {
    Inode* const known = *found;
    if (known->kind == kind && known->directory->wanted_ino == wanted_ino) {
      ++known->lookups;
      return known->ino;
    }
    // Processes that have the old node open keep it.
    known->directory->removed = std::make_shared<const UnlinkedNode>();
    directories_.erase(found);
  }
  Inode* const parent = find(parent_ino);
  if (parent == nullptr) return 0;
  Inode* const inode = add(kind, wanted_ino);
  inode->bucket = parent->bucket;
  inode->lookups = 1;
  inode->id = id;
  attach(inode, parent, name);
  inode->directory->suffix = path;
  inode->directory->wanted_ino = wanted_ino;
  inode->directory->generated = generated;
  return inode->ino;
}

bool InodeTable::acquire(uint64_t ino) {
  MutexLock lock(mutex_);
  Inode* const inode = find(ino);
  if (inode != nullptr) ++inode->lookups;
  return inode != nullptr;
}

void InodeTable::forget(uint64_t ino, uint64_t lookups) {
  if (ino == kRootNode) return;
  MutexLock lock(mutex_);
  Inode* inode = find(ino);
  if (inode == nullptr) return;
  inode->lookups -= std::min(lookups, inode->lookups);
  erase_if_unused(inode);
}

std::optional<ResolvedNode> InodeTable::resolve(uint64_t ino) const {
  MutexLock lock(mutex_);
  const Inode* inode = find(ino);
  if (inode == nullptr) return std::nullopt;
  ResolvedNode node;
  node.ino = ino;
  node.kind = inode->kind;
  node.bucket = inode->bucket;
  if (inode->kind == InodeKind::kFile) {
    node.id = inode->id;
    node.open_file = inode->open_file.lock();
    node.unlinked = inode->unlinked;
    return node;
  }
  node.parent = inode->parent->ino;
  if (node.is_control()) {
    // The control directory itself reports whether its nodes still exist.
    node.id = inode->id;
    node.path = inode->directory->suffix;
    node.generated = inode->directory->generated;
    return node;
  }
  if (inode->directory) node.removed = inode->directory->removed;
  std::vector<const Inode*> upwards;
  for (const Inode* up = inode; up->kind == InodeKind::kDirectory; up = up->parent) {
    // A removed directory is empty, so everything that the table has below it is removed too.
    if (up->directory->removed && !node.removed) node.removed = up->directory->removed;
    upwards.push_back(up);
  }
  for (auto directory = upwards.rbegin(); directory != upwards.rend(); ++directory) {
    node.path += (*directory)->directory->suffix;
  }
  return node;
}

uint64_t InodeTable::ino_of_directory(uint64_t parent, std::string_view name,
                                      uint64_t wanted_ino) const {
  return find_directory(parent, name).value_or(wanted_ino);
}

uint64_t InodeTable::ino_of_file(const MountedBucket* bucket, bson::ValueView id,
                                 uint64_t wanted_ino) const {
  MutexLock lock(mutex_);
  auto found = files_.find(FileKey{bucket, id});
  return found == files_.end() ? wanted_ino : (*found)->ino;
}

uint64_t InodeTable::renew_file(const MountedBucket* bucket, bson::ValueView id) {
  MutexLock lock(mutex_);
  auto found = files_.find(FileKey{bucket, id});
  if (found == files_.end()) return 0;
  const uint64_t ino = (*found)->ino;
  files_.erase(found);
  return ino;
}

std::vector<uint64_t> InodeTable::inos_of(const MountedBucket* bucket) const {
  MutexLock lock(mutex_);
  std::vector<uint64_t> inos;
  for (const std::unique_ptr<Inode>& inode : inodes_) {
    if (inode->bucket.get() == bucket) inos.push_back(inode->ino);
  }
  return inos;
}

void InodeTable::set_moving(uint64_t ino, bool moving) {
  MutexLock lock(mutex_);
  Inode* const inode = find(ino);
  if (inode != nullptr && inode->directory) inode->directory->moving = moving;
}

bool InodeTable::is_moving(uint64_t ino) const {
  MutexLock lock(mutex_);
  const Inode* inode = find(ino);
  if (inode == nullptr) return false;
  for (; inode->directory; inode = inode->parent) {
    if (inode->directory->moving) return true;
  }
  return false;
}

std::shared_ptr<GeneratedFile> InodeTable::find_generated(uint64_t parent,
                                                          std::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = directories_.find(NameKey{parent, name});
  return found == directories_.end() ? nullptr : (*found)->directory->generated;
}

std::optional<uint64_t> InodeTable::find_directory(uint64_t parent, std::string_view name) const {
  MutexLock lock(mutex_);
  auto found = directories_.find(NameKey{parent, name});
  if (found == directories_.end()) return std::nullopt;
  return (*found)->ino;
}

void InodeTable::note_file_name(uint64_t ino, uint64_t parent, std::string_view name) {
  MutexLock lock(mutex_);
  if (find(ino) != nullptr) file_names_.set(parent, name, ino);
}

void InodeTable::note_file_renamed(const ShownName& from, const ShownName& to, bool exchanged) {
  MutexLock lock(mutex_);
  if (exchanged) {
    file_names_.exchange(from, to);
  } else {
    file_names_.move(from, to);
  }
}

void InodeTable::note_file_name_removed(uint64_t parent, std::string_view name) {
  MutexLock lock(mutex_);
  file_names_.remove({parent, std::string(name)});
}

std::vector<ShownName> InodeTable::names_of_file(const MountedBucket* bucket,
                                                 bson::ValueView id) const {
  MutexLock lock(mutex_);
  const auto found = files_.find(FileKey{bucket, id});
  return found == files_.end() ? std::vector<ShownName>() : file_names_.of((*found)->ino);
}

std::vector<ShownName> InodeTable::names_of_file(uint64_t ino) const {
  MutexLock lock(mutex_);
  return file_names_.of(ino);
}

std::vector<ShownName> InodeTable::names_of_directory(const MountedBucket* bucket,
                                                      bson::ValueView id) const {
  MutexLock lock(mutex_);
  std::vector<ShownName> names;
  const auto [begin, end] = documented_.equal_range(FileKey{bucket, id});
  for (auto found = begin; found != end; ++found) {
    names.push_back({(*found)->parent->ino, (*found)->directory->name});
  }
  return names;
}

std::vector<InodeTable::ImpliedDirectory> InodeTable::implied_directories(
    const MountedBucket* bucket) const {
  MutexLock lock(mutex_);
  std::vector<ImpliedDirectory> found;
  for (const Inode* directory : implied_) {
    if (directory->bucket.get() != bucket || directory->directory->removed) continue;
    found.push_back({directory->ino, {directory->parent->ino, directory->directory->name}});
  }
  return found;
}

std::vector<InodeTable::ImpliedDirectory> InodeTable::implied_directories_above(
    uint64_t ino) const {
  MutexLock lock(mutex_);
  std::vector<ImpliedDirectory> found;
  Inode* directory = find(ino);
  while (directory != nullptr && implied_.contains(directory)) {
    found.push_back({directory->ino, {directory->parent->ino, directory->directory->name}});
    directory = directory->parent;
  }
  return found;
}

std::vector<std::pair<uint64_t, std::shared_ptr<MountedBucket>>> InodeTable::buckets() const {
  MutexLock lock(mutex_);
  std::vector<std::pair<uint64_t, std::shared_ptr<MountedBucket>>> found;
  for (const std::unique_ptr<Inode>& inode : inodes_) {
    if (inode->kind != InodeKind::kBucketRoot) continue;
    if (inode->directory && inode->directory->removed) continue;
    found.emplace_back(inode->ino, inode->bucket);
  }
  return found;
}

void InodeTable::set_open_file(uint64_t ino, const std::shared_ptr<gridfs::File>& file) {
  MutexLock lock(mutex_);
  if (Inode* inode = find(ino)) inode->open_file = file;
}

void InodeTable::replace_file(uint64_t ino, bson::ValueView next) {
  MutexLock lock(mutex_);
  Inode* const inode = find(ino);
  if (inode == nullptr) return;
  const auto found = files_.find(FileKey{inode->bucket.get(), inode->id.view()});
  if (found == files_.end()) {
    // Nobody can look this node up by its _id any more.
    inode->id = bson::Value(next);
    return;
  }
  Inode* const known = *found;
  files_.erase(found);
  inode->id = bson::Value(next);
  known->id = bson::Value(next);
  known->open_file.reset();
  inode->open_file.reset();
  files_.insert(known);
}

void InodeTable::remove_file(const MountedBucket* bucket, bson::ValueView id, UnlinkedNode last) {
  MutexLock lock(mutex_);
  const auto found = files_.find(FileKey{bucket, id});
  if (found == files_.end()) return;
  (*found)->unlinked = std::make_shared<const UnlinkedNode>(std::move(last));
}

void InodeTable::remove_directory(uint64_t parent, std::string_view name, UnlinkedNode last) {
  MutexLock lock(mutex_);
  auto found = directories_.find(NameKey{parent, name});
  if (found == directories_.end()) return;
  Inode* inode = *found;
  inode->directory->removed = std::make_shared<const UnlinkedNode>(std::move(last));
  directories_.erase(found);
}

void InodeTable::set_unlinked(uint64_t ino, UnlinkedNode node) {
  MutexLock lock(mutex_);
  Inode* const inode = find(ino);
  if (inode == nullptr) return;
  auto unlinked = std::make_shared<const UnlinkedNode>(std::move(node));
  if (inode->unlinked) {
    inode->unlinked = std::move(unlinked);
  } else if (inode->directory && inode->directory->removed) {
    inode->directory->removed = std::move(unlinked);
  }
}

void InodeTable::move_directory(uint64_t from_parent, std::string_view from_name,
                                uint64_t to_parent_ino, std::string_view to_name,
                                std::string_view path) {
  MutexLock lock(mutex_);
  auto found = directories_.find(NameKey{from_parent, from_name});
  Inode* to_parent = find(to_parent_ino);
  if (found == directories_.end() || to_parent == nullptr) return;
  Inode* inode = *found;
  Inode* old_parent = inode->parent;
  directories_.erase(found);
  attach(inode, to_parent, to_name);
  if (inode->kind == InodeKind::kDirectory) {
    inode->directory->suffix = path.substr(std::min(path.size(), path_bytes(to_parent)));
  }
  --old_parent->children;
  erase_if_unused(old_parent);
}

size_t InodeTable::size() const {
  MutexLock lock(mutex_);
  return inodes_.size();
}

InodeTable::Inode* InodeTable::find(uint64_t ino) const {
  auto found = inodes_.find(ino);
  return found == inodes_.end() ? nullptr : found->get();
}

InodeTable::Inode* InodeTable::add(InodeKind kind, uint64_t wanted_ino) {
  uint64_t ino = wanted_ino;
  // The shift keeps inos positive for programs that treat them as signed. The kernel passes inos on
  // unchanged.
  while (ino == 0 || (ino == kRootNode && !inodes_.empty()) || inodes_.contains(ino)) {
    ino = mix(ino, wanted_ino) >> 1;
  }
  auto inode = std::make_unique<Inode>();
  inode->ino = ino;
  inode->kind = kind;
  Inode* added = inode.get();
  inodes_.insert(std::move(inode));
  return added;
}

void InodeTable::attach(Inode* inode, Inode* parent, std::string_view name) {
  if (!inode->directory) inode->directory = std::make_unique<DirectoryPart>();
  inode->parent = parent;
  inode->directory->name = name;
  ++parent->children;
  directories_.insert(inode);
}

void InodeTable::set_document(Inode* directory, const bson::Value& id) {
  directory->id = id;
  if (id.type() == bson::Type::kNull) {
    implied_.insert(directory);
  } else {
    documented_.insert(directory);
  }
}

void InodeTable::unset_document(Inode* directory) {
  implied_.erase(directory);
  auto [at, end] = documented_.equal_range(directory);
  while (at != end && *at != directory) ++at;
  if (at != end) documented_.erase(at);
}

size_t InodeTable::path_bytes(const Inode* directory) {
  size_t bytes = 0;
  for (; directory->kind == InodeKind::kDirectory; directory = directory->parent) {
    bytes += directory->directory->suffix.size();
  }
  return bytes;
}

void InodeTable::erase_if_unused(Inode* inode) {
  while (inode->lookups == 0 && inode->children == 0) {
    Inode* parent = inode->parent;
    if (inode->kind == InodeKind::kDirectory) unset_document(inode);
    if (inode->kind == InodeKind::kFile) {
      file_names_.forget(inode->ino);
      files_.erase(inode);
    } else if (!inode->directory->removed) {
      directories_.erase(inode);
    }
    inodes_.erase(inodes_.find(inode->ino));
    if (parent == nullptr) return;
    --parent->children;
    inode = parent;
  }
}

}  // namespace gridmount::fuse
