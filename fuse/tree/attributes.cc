#include "fuse/tree/attributes.h"

#include <sys/stat.h>

#include "gridfs/namespace/nodes.h"

namespace gridmount::fuse {

gridfs::Attributes unlinked_attributes(const gridfs::FilesDocument& document,
                                       const gridfs::NamespaceOptions& defaults) {
  const gridfs::PosixFields& posix = document.posix;
  const timespec uploaded = gridfs::to_timespec(document.upload_date);
  gridfs::Attributes attributes;
  attributes.mode = posix.mode.value_or(S_IFREG | (0666 & ~defaults.umask));
  attributes.mode = gridfs::mode_of_file(attributes.mode, posix.symlink_target.has_value());
  attributes.uid = posix.uid.value_or(defaults.default_owner.uid);
  attributes.gid = posix.gid.value_or(defaults.default_owner.gid);
  attributes.nlink = 0;
  attributes.size = document.length;
  attributes.blocks = gridfs::blocks_of(document);
  attributes.rdev = posix.rdev.value_or(0);
  attributes.mtime = posix.mtime.value_or(uploaded);
  attributes.ctime = posix.ctime.value_or(attributes.mtime);
  attributes.atime = posix.atime.value_or(attributes.mtime);
  return attributes;
}

gridfs::Attributes mount_root_attributes(const gridfs::NamespaceOptions& defaults,
                                         timespec changed) {
  gridfs::Attributes attributes;
  attributes.mode = S_IFDIR | (0777 & ~defaults.umask);
  attributes.uid = defaults.default_owner.uid;
  attributes.gid = defaults.default_owner.gid;
  // By convention, a directory with one link does not count its subdirectories. find(1) and other
  // programs know this convention.
  attributes.nlink = 1;
  attributes.atime = attributes.mtime = attributes.ctime = changed;
  return attributes;
}

}  // namespace gridmount::fuse
