// A node that has lost its last name and is still held: a directory that is open or is somebody's
// working directory, or a file that is not open for I/O (a symlink, pipe or device, or any file
// opened by O_PATH). No document describes it any more. This state is as it was when the name was
// removed, and may be changed like that of a node with a name.
//
// Plain values. Pure functions except for the current time. Not thread-safe.
#pragma once

#include "gridfs/bucket/files_document.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::fuse {

struct UnlinkedNode {
  gridfs::Attributes attributes;  // nlink is 0
  // Fields that `attributes` does not have: extended attributes and a symlink's target. Times and
  // owners are unused.
  gridfs::PosixFields posix;

  UnlinkedNode() { attributes.nlink = 0; }
  UnlinkedNode(gridfs::Attributes last, gridfs::PosixFields fields);

  // Returns the node's fields as a PosixChange takes them.
  gridfs::PosixFields fields() const;
  UnlinkedNode with(const gridfs::PosixFields& changes) const;
  // setattr(2) without the size. ctime becomes the current time unless it is set.
  UnlinkedNode with(const gridfs::AttributeChanges& changes) const;
};

}  // namespace gridmount::fuse
