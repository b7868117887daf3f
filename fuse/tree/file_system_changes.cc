// Determines which parts of the kernel's cache an external change makes wrong.
#include "fuse/tree/file_system.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::fuse {

namespace {

// Adds both names that a file with that component can have: the plain name, and the escaped name
// that the file has beside a directory with the plain name.
void add_names(StaleEntries& stale, uint64_t parent, std::string_view component, bool at_root) {
  stale.names.emplace(parent, gridfs::escape_component(component, at_root));
  stale.names.emplace(parent, gridfs::escape_shadowed_file(component));
}

}  // namespace

std::optional<FileSystem::ChangedBucket> FileSystem::find_changed(const std::string& name) const {
  const std::optional<ResolvedNode> root = table_.resolve(kRootNode);
  if (root->kind == InodeKind::kBucketRoot) {
    if (root->bucket->name() != name) return std::nullopt;
    return ChangedBucket{kRootNode, root->bucket};
  }
  const std::optional<uint64_t> ino =
      table_.find_directory(kRootNode, gridfs::escape_component(name, false));
  if (!ino) return std::nullopt;
  const std::optional<ResolvedNode> node = table_.resolve(*ino);
  if (!node || node->removed) return std::nullopt;
  return ChangedBucket{*ino, node->bucket};
}

void FileSystem::add_stale_path(const ChangedBucket& changed, gridfs::PathNamespace& paths,
                                std::string_view path, StaleEntries& stale) const {
  uint64_t parent = changed.root;
  std::string directory;
  while (true) {
    const bool at_root = directory.empty();
    const std::string_view component = gridfs::first_component(path, at_root);
    stale.nodes.insert(parent);
    const std::string shown = gridfs::escape_component(component, at_root);
    if (component.size() >= path.size()) {
      add_names(stale, parent, component, at_root);
      return;
    }
    path.remove_prefix(component.size() + 1);
    directory = gridfs::join(directory, component);
    const std::optional<uint64_t> child = table_.find_directory(parent, shown);
    // An implied directory comes and goes with the names below it.
    if (!child || !paths.get_directory(directory)) add_names(stale, parent, component, at_root);
    if (!child) return;
    parent = *child;
  }
}

void FileSystem::add_all_stale(const ChangedBucket& changed,
                               const std::shared_ptr<gridfs::PathNamespace>& paths,
                               StaleEntries& stale) {
  for (const uint64_t ino : table_.inos_of(changed.bucket.get())) {
    stale.nodes.insert(ino);
    const std::optional<ResolvedNode> node = table_.resolve(ino);
    if (!node) continue;
    if (node->kind == InodeKind::kFile) {
      for (const ShownName& name : table_.names_of_file(ino)) {
        stale.names.emplace(name.parent, name.name);
      }
      if (!is_shared()) table_.renew_file(changed.bucket.get(), node->id.view());
    } else if (node->kind == InodeKind::kDirectory && !node->path.empty()) {
      const gridfs::SplitPath where = gridfs::split(node->path);
      add_names(stale, node->parent, where.component, where.directory.empty());
    }
  }
  // Invalidating a directory's name also covers the names in it. If the bucket's root has no name,
  // or may be somebody's working directory for long, the names in it are listed. The kernel may
  // have learnt that they do not exist.
  if (!notes_file_names()) {
    stale.names.emplace(kRootNode, gridfs::escape_component(changed.bucket->name(), false));
    return;
  }
  Result<std::unique_ptr<gridfs::DirectoryStream>> root = paths->list("");
  if (root) stale.listings.push_back({changed.root, paths, *std::move(root)});
}

void FileSystem::notify_namespace(const std::string& bucket, const BucketChanges& changes) {
  const std::shared_ptr<gridfs::PathNamespace> paths = buckets_.find_opened(bucket);
  if (!paths) return;
  if (changes.everything || changes.links) paths->links_changed_externally();
  for (const std::string& filename : changes.filenames) paths->name_changed_externally(filename);
  if (changes.everything || !changes.directories.empty()) paths->directories_changed_externally();
}

StaleEntries FileSystem::changed_externally(const ExternalChanges& changes) {
  xattrs_changed_.fetch_add(1);
  TreeReadLock lock(moves_, tree_mutex_, kWholeTree);
  StaleEntries stale;
  if (is_closed_) return stale;
  for (const auto& [name, of_bucket] : changes) {
    notify_namespace(name, of_bucket);
    const std::optional<ChangedBucket> changed = find_changed(name);
    if (!changed) continue;
    const Result<std::shared_ptr<gridfs::PathNamespace>> paths = changed->bucket->paths();
    if (!paths) continue;
    const MountedBucket* const bucket = changed->bucket.get();
    if (of_bucket.everything) {
      add_all_stale(*changed, *paths, stale);
      continue;
    }
    for (const bson::Value& id : of_bucket.metadata) {
      if (const uint64_t ino = table_.ino_of_file(bucket, id.view(), 0)) {
        stale.nodes.insert(ino);
      }
    }
    // With writeback, the kernel keeps the size it knows of a node. So the file gets a new node.
    for (const bson::Value& id : of_bucket.content) {
      if (const uint64_t ino = table_.renew_file(bucket, id.view())) stale.nodes.insert(ino);
      const Result<std::vector<std::string>> links = (*paths)->links_of(id.view());
      if (!links) {
        // Any name may be one of the file.
        add_all_stale(*changed, *paths, stale);
        break;
      }
      for (const std::string& link : *links) add_stale_path(*changed, **paths, link, stale);
    }
    for (const std::string& filename : of_bucket.filenames) {
      add_stale_path(*changed, **paths, filename, stale);
    }
    for (const std::string& directory : of_bucket.directories) {
      if (!directory.empty()) {
        add_stale_path(*changed, **paths, directory, stale);
      } else {
        stale.nodes.insert(changed->root);
      }
    }
    for (const bson::Value& id : of_bucket.unnamed) {
      stale.nodes.insert(changed->root);
      if (const std::optional<std::string> shown = gridfs::escape_id(id.view())) {
        stale.names.emplace(changed->root, *shown);
      }
    }
  }
  return stale;
}

}  // namespace gridmount::fuse
