// Extended attributes, including access control lists.
#include <linux/limits.h>
#include <sys/stat.h>

#include "fuse/errno.h"
#include "fuse/tree/attributes.h"
#include "fuse/tree/file_system.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/posix_acl.h"
#include "gridfs/bucket/posix_changes.h"

namespace gridmount::fuse {

namespace {

// Checks the namespaces of xattr(7). The kernel has already checked who may use which namespace.
Status check_xattr_name(std::string_view name, bool access_lists) {
  // ls(1) requests this attribute for every file, unless an error tells it that there are no
  // labels.
  if (name == "security.selinux") {
    return fail(kNotSupported, "SELinux security labels are not supported");
  }
  for (const std::string_view lead : {"user.", "trusted.", "security."}) {
    if (name == lead) {
      return fail(kInvalidArgument,
                  "'" + std::string(name) + "' is a namespace, not the name of an attribute");
    }
    if (name.starts_with(lead)) return {};
  }
  if (access_lists && (name == gridfs::kAccessAcl || name == gridfs::kDefaultAcl)) return {};
  return fail(kNotSupported,
              "the extended attribute '" + std::string(name) + "' is not in a supported namespace");
}

// The prefix of attributes that are fields of the files document. They are not listed, so that
// programs which copy all attributes ignore them.
constexpr std::string_view kFieldLead = "user.gridfs.";

// Returns false for invalid attributes that a driver may have written: a name that no system call
// accepts, or an invalid access control list, with which the kernel would deny access to everybody.
bool is_shown(std::string_view name, std::string_view value, bool access_lists) {
  if (name.size() > XATTR_NAME_MAX || name.find('\0') != std::string_view::npos) return false;
  if (name.starts_with(kFieldLead) || !check_xattr_name(name, access_lists)) return false;
  const bool is_list = name == gridfs::kAccessAcl || name == gridfs::kDefaultAcl;
  return !is_list || gridfs::PosixAcl::parse(value).has_value();
}

gridfs::PosixFields with_mode(gridfs::PosixFields posix, uint32_t mode) {
  posix.mode = mode;
  return posix;
}

}  // namespace

Result<gridfs::PosixFields> FileSystem::posix_of(uint64_t ino) {
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.kind == InodeKind::kMountRoot || node.is_control()) return gridfs::PosixFields();
  if (node.removed) return node.removed->fields();
  const auto read = [&]() -> Result<gridfs::PosixFields> {
    GM_ASSIGN(auto paths, node.bucket->paths());
    if (node.kind != InodeKind::kFile) return paths->directory_posix(node.path);
    return paths->file_posix(node.id);
  };
  Result<gridfs::PosixFields> posix = read();
  if (posix || !is_absent(posix.error())) return posix;
  if (node.open_file) return node.open_file->document().posix;
  if (node.unlinked) return node.unlinked->fields();
  return posix;
}

Status FileSystem::change_posix(uint64_t ino, const gridfs::PosixChange& change) {
  Status changed = write_posix(ino, change);
  xattrs_changed_.fetch_add(1);
  return changed;
}

Status FileSystem::write_posix(uint64_t ino, const gridfs::PosixChange& change) {
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.kind == InodeKind::kMountRoot && buckets_.settings().paths.read_only) {
    return fail(ErrorCode::kStoreReadOnly, "the mount is read-only");
  }
  if (node.kind == InodeKind::kMountRoot) {
    return fail(kNotPermitted,
                "the root of the mount has no document, so its attributes cannot be changed");
  }
  if (node.is_control()) return control_is_read_only();
  if (node.removed) return change_unlinked(ino, change);
  const auto write = [&]() -> Status {
    GM_ASSIGN(auto paths, node.bucket->paths());
    if (node.kind != InodeKind::kFile) return paths->change_directory_posix(node.path, change);
    return paths->change_file_posix(node.id, change);
  };
  Status changed = write();
  if (changed || !is_absent(changed.error())) return changed;
  // The file has no name any more. Only the open file is left.
  if (node.open_file) {
    const uint32_t mode =
        unlinked_attributes(node.open_file->document(), buckets_.settings().paths).mode;
    GM_TRY(node.open_file->change_posix(
        [&](const gridfs::PosixFields& now) { return change(with_mode(now, mode)); }));
    record_changed(node, *node.open_file);
    return {};
  }
  if (node.unlinked) return change_unlinked(ino, change);
  return changed;
}

Result<UnlinkedNode> FileSystem::unlinked_node(uint64_t ino) const {
  GM_ASSIGN(const ResolvedNode node, resolve(ino));
  if (node.removed) return *node.removed;
  if (node.unlinked) return *node.unlinked;
  return fail(kStaleNode, "node " + std::to_string(ino) + " has a name");
}

Status FileSystem::change_unlinked(uint64_t ino, const gridfs::PosixChange& change) {
  MutexLock lock(unlinked_mutex_);
  GM_ASSIGN(const UnlinkedNode unlinked, unlinked_node(ino));
  GM_ASSIGN(const gridfs::PosixFields changes, change(unlinked.fields()));
  table_.set_unlinked(ino, unlinked.with_changes(changes));
  return {};
}

Result<EntryReply> FileSystem::setattr_unlinked(uint64_t ino,
                                                const gridfs::AttributeChanges& changes) {
  MutexLock lock(unlinked_mutex_);
  GM_ASSIGN(const UnlinkedNode unlinked, unlinked_node(ino));
  if (changes.size) {
    return fail(gridfs::kFileDeleted, "the file was removed while nobody had it open");
  }
  const UnlinkedNode changed = unlinked.with_changes(changes);
  table_.set_unlinked(ino, changed);
  return EntryReply{ino, changed.attributes, node_cache_seconds()};
}

void FileSystem::record_changed(const ResolvedNode& node, const gridfs::File& file) {
  if (!node.unlinked) return;
  const gridfs::FilesDocument document = file.document();
  table_.set_unlinked(
      node.ino,
      UnlinkedNode(unlinked_attributes(document, buckets_.settings().paths), document.posix));
}

Result<std::string> FileSystem::field(uint64_t ino, std::string_view name) {
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  const bool has_content =
      node.kind == InodeKind::kFile || (node.is_control() && node.id.type() != bson::Type::kNull);
  if (!has_content) return gridfs::no_such_xattr(name);
  const auto read = [&]() -> Result<std::string> {
    GM_ASSIGN(auto paths, node.bucket->paths());
    return paths->file_field(node.id, name.substr(kFieldLead.size()));
  };
  Result<std::string> text = read();
  // A file that has lost its last name has no files document.
  const bool is_unlinked = !text && is_absent(text.error()) && node.unlinked;
  return is_unlinked ? gridfs::no_such_xattr(name) : std::move(text);
}

Status FileSystem::set_field(uint64_t ino, std::string_view name,
                             std::optional<std::string_view> text, gridfs::XattrMode mode) {
  GM_ASSIGN(ResolvedNode node, resolve(ino));
  if (node.is_control()) return control_is_read_only();
  if (node.kind != InodeKind::kFile) {
    return fail(kNotPermitted,
                "a directory has no files document, so it has no attributes that begin with '" +
                    std::string(kFieldLead) + "'");
  }
  const auto write = [&]() -> Status {
    GM_ASSIGN(auto paths, node.bucket->paths());
    return paths->set_file_field(node.id, name.substr(kFieldLead.size()), text, mode);
  };
  Status written = write();
  if (!written && is_absent(written.error()) && node.unlinked) {
    return fail(kNotPermitted, "the file has lost its last name, and with it its document");
  }
  return written;
}

Result<std::string> FileSystem::getxattr(uint64_t ino, std::string_view name) {
  TreeReadLock lock(moves_, tree_mutex_, ino);
  if (name.starts_with(kFieldLead)) return field(ino, name);
  GM_TRY(check_xattr_name(name, keeps_access_lists()));
  if (is_known_without_xattrs(ino)) return gridfs::no_such_xattr(name);
  GM_ASSIGN(const gridfs::PosixFields posix, posix_of(ino));
  if (posix.xattrs) {
    const std::optional<std::string_view> found = posix.xattrs->find(name);
    if (found && is_shown(name, *found, keeps_access_lists())) return std::string(*found);
  }
  return gridfs::no_such_xattr(name);
}

Result<std::vector<std::string>> FileSystem::listxattr(uint64_t ino) {
  TreeReadLock lock(moves_, tree_mutex_, ino);
  std::vector<std::string> names;
  if (is_known_without_xattrs(ino)) return names;
  GM_ASSIGN(const gridfs::PosixFields posix, posix_of(ino));
  if (posix.xattrs) {
    for (const auto& [name, value] : posix.xattrs->attributes()) {
      if (is_shown(name, value, keeps_access_lists())) names.emplace_back(name);
    }
  }
  return names;
}

Status FileSystem::setxattr(uint64_t ino, std::string_view name, std::string_view value,
                            gridfs::XattrMode mode, const GroupCheck& may_keep_group_id) {
  TreeReadLock lock(moves_, tree_mutex_, ino);
  if (name.starts_with(kFieldLead)) return set_field(ino, name, value, mode);
  GM_TRY(check_xattr_name(name, keeps_access_lists()));
  return change_posix(ino, [&](const gridfs::PosixFields& now) -> Result<gridfs::PosixFields> {
    GM_ASSIGN(gridfs::PosixFields changes, gridfs::with_xattr(now, name, value, mode));
    const uint32_t group = now.gid.value_or(buckets_.settings().paths.default_owner.gid);
    if (name == gridfs::kAccessAcl && !may_keep_group_id(group)) *changes.mode &= ~S_ISGID;
    return changes;
  });
}

Status FileSystem::removexattr(uint64_t ino, std::string_view name) {
  TreeReadLock lock(moves_, tree_mutex_, ino);
  if (name.starts_with(kFieldLead)) {
    return set_field(ino, name, std::nullopt, gridfs::XattrMode::kAny);
  }
  GM_TRY(check_xattr_name(name, keeps_access_lists()));
  return change_posix(
      ino, [&](const gridfs::PosixFields& now) { return gridfs::without_xattr(now, name); });
}

}  // namespace gridmount::fuse
