// A node that has lost its last name and is still held: a directory that is open or is somebody's
// working directory, or a file that is not open for I/O (a symlink, pipe or device, or any file
// opened with O_PATH). No document describes the node any more. An UnlinkedNode begins with the
// state that the node had when its last name was removed. with_changes() makes the changes that the
// calls on a node with a name would make.
//
// Thread-safety: a plain value, which one thread at a time may change. No function changes its
// object; one with_changes() reads the clock.
#pragma once

#include "gridfs/bucket/files_document.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::fuse {

struct UnlinkedNode {
  gridfs::Attributes attributes;  // nlink is 0
  // Extended attributes and a symlink's target, which `attributes` does not have. The mode, owners
  // and times in `posix` are not used: `attributes` has them.
  gridfs::PosixFields posix;

  UnlinkedNode() { attributes.nlink = 0; }
  UnlinkedNode(gridfs::Attributes last, gridfs::PosixFields fields);

  // Returns the argument for a PosixChange (gridfs/bucket/files_document.h): `posix` with the mode
  // and the owners from `attributes`.
  gridfs::PosixFields fields() const;
  // Returns the node with the fields that `changes` has.
  UnlinkedNode with_changes(const gridfs::PosixFields& changes) const;
  // Returns the node after the changes of FUSE's request setattr, except the size. ctime becomes
  // the current time unless `changes` sets it.
  UnlinkedNode with_changes(const gridfs::AttributeChanges& changes) const;
};

}  // namespace gridmount::fuse
