// Determines which parts of the kernel's cache a change by another mount, or by a driver, makes
// wrong over a deployment.
//
// The change stream names documents, and the inode table knows under which names the kernel has
// them. The kernel's cache cannot be wrong about a document that the kernel does not know, with one
// exception: if such a document was removed, an implied directory may have vanished.
//
// Files keep their nodes: without writeback in the kernel, an open file follows the commits of
// others.
#include "fuse/tree/file_system.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::fuse {

namespace {

// A file has a plain name, and an escaped name beside a directory with the plain name. `shown` is
// one of the two names. Adds the other one.
void add_other_name(StaleEntries& stale, const ShownName& shown, bool at_root) {
  const Result<gridfs::ParsedName> parsed = gridfs::parse_name(shown.name, at_root);
  if (!parsed) return;
  if (parsed->kind == gridfs::ParsedName::Kind::kPlain) {
    stale.names.emplace(shown.parent, gridfs::escape_shadowed_file(parsed->component));
  } else if (parsed->kind == gridfs::ParsedName::Kind::kFile) {
    stale.names.emplace(shown.parent, gridfs::escape_component(parsed->component, at_root));
  }
}

// Makes the bucket forget everything that the changes have made outdated. `paths` is null if nobody
// has opened the bucket.
void report(const std::shared_ptr<gridfs::PathNamespace>& paths, const BucketChanges& changes) {
  if (!paths) return;
  if (changes.everything || changes.links) paths->links_changed_externally();
  if (changes.everything || !changes.renamed_directories.empty()) {
    paths->directories_changed_externally();
  }
  for (const std::string& path : changes.directories) paths->directory_changed_externally(path);
  for (const std::string& filename : changes.filenames) paths->name_changed_externally(filename);
}

}  // namespace

void FileSystem::add_path_of_others(uint64_t root, std::string_view path,
                                    StaleEntries& stale) const {
  uint64_t parent = root;
  bool at_root = true;
  while (true) {
    const std::string_view component = gridfs::first_component(path, at_root);
    const bool is_last = component.size() >= path.size();
    const std::string shown = gridfs::escape_component(component, at_root);
    const std::optional<uint64_t> child = table_.find_directory(parent, shown);
    if (!child || is_last) stale.nodes.insert(parent);
    // A known directory still exists, because its removal would be another event. Its attributes
    // may have changed.
    if (child && is_last) stale.nodes.insert(*child);
    if (!child) stale.names.emplace(parent, shown);
    if (!child || is_last) stale.names.emplace(parent, gridfs::escape_shadowed_file(component));
    if (!child || is_last) return;
    parent = *child;
    path.remove_prefix(component.size() + 1);
    at_root = false;
  }
}

void FileSystem::add_vanished(const ShownName& name, StaleEntries& stale) const {
  const std::optional<ResolvedNode> parent = table_.resolve(name.parent);
  stale.names.emplace(name.parent, name.name);
  add_other_name(stale, name, parent && parent->kind == InodeKind::kBucketRoot);
  stale.nodes.insert(name.parent);
  // The implied directories above the name may have vanished with it.
  for (const auto& implied : table_.implied_directories_above(name.parent)) {
    add_implied(implied, stale);
  }
}

void FileSystem::add_implied(const InodeTable::ImpliedDirectory& implied,
                             StaleEntries& stale) const {
  const std::optional<ResolvedNode> parent = table_.resolve(implied.name.parent);
  stale.expired.emplace(implied.name.parent, implied.name.name);
  add_other_name(stale, implied.name, parent && parent->kind == InodeKind::kBucketRoot);
  stale.nodes.insert(implied.ino);
  stale.nodes.insert(implied.name.parent);
}

void FileSystem::add_changed_documents(const ChangedBucket& changed, const BucketChanges& changes,
                                       StaleEntries& stale) const {
  const MountedBucket* const bucket = changed.bucket.get();
  for (const auto* const ids : {&changes.metadata, &changes.content}) {
    for (const bson::Value& id : *ids) {
      if (const uint64_t ino = table_.ino_of_file(bucket, id.view(), 0)) stale.nodes.insert(ino);
    }
  }
  bool has_unknown = false;
  for (const bson::Value& id : changes.renamed_files) {
    const std::vector<ShownName> names = table_.names_of_file(bucket, id.view());
    for (const ShownName& name : names) add_vanished(name, stale);
    has_unknown = has_unknown || names.empty();
  }
  for (const bson::Value& id : changes.renamed_directories) {
    const std::vector<ShownName> names = table_.names_of_directory(bucket, id.view());
    for (const ShownName& name : names) add_vanished(name, stale);
    has_unknown = has_unknown || names.empty();
  }
  if (!has_unknown) return;
  for (const auto& implied : table_.implied_directories(bucket)) add_implied(implied, stale);
}

void FileSystem::add_changes_by_others(const std::string& name, const BucketChanges& changes,
                                       StaleEntries& stale) {
  const std::shared_ptr<gridfs::PathNamespace> paths = buckets_.find_opened(name);
  const std::optional<ChangedBucket> changed = find_changed(name);
  if (!changed) return;
  if (changes.everything) {
    if (paths) add_all_stale(*changed, paths, stale);
    return;
  }
  add_changed_documents(*changed, changes, stale);
  for (const std::string& filename : changes.filenames) {
    add_path_of_others(changed->root, filename, stale);
  }
  for (const std::string& directory : changes.directories) {
    if (directory.empty()) {
      stale.nodes.insert(changed->root);
    } else {
      add_path_of_others(changed->root, directory, stale);
    }
  }
  for (const bson::Value& id : changes.unnamed) {
    stale.nodes.insert(changed->root);
    if (const auto shown = gridfs::escape_id(id.view())) {
      stale.names.emplace(changed->root, *shown);
    }
  }
}

StaleEntries FileSystem::changed_by_others(const FollowedChanges& changes) {
  BucketChanges all;
  all.everything = true;
  // The kernel may cache the replies to requests that begin after changes_noted_ has grown (below).
  // So these replies must not come from outdated data of the buckets.
  if (changes.everything) {
    for (const auto& [ino, bucket] : table_.buckets()) {
      report(buckets_.find_opened(bucket->name()), all);
    }
  }
  for (const auto& [name, of_bucket] : changes.buckets) {
    report(buckets_.find_opened(name), of_bucket);
  }
  // A request that has read the store before this increment has noted a smaller number.
  changes_noted_.fetch_add(1);
  TreeReadLock lock(moves_, tree_mutex_, kWholeTree);
  StaleEntries stale;
  if (is_closed_) return stale;
  if (changes.everything) {
    for (const auto& [ino, bucket] : table_.buckets()) {
      add_changes_by_others(bucket->name(), all, stale);
    }
    return stale;
  }
  for (const auto& [name, of_bucket] : changes.buckets) {
    add_changes_by_others(name, of_bucket, stale);
  }
  return stale;
}

}  // namespace gridmount::fuse
