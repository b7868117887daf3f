// The state of a node that has lost its last name while a program still uses the node. The mount
// shows this state for a directory that is open or is a working directory, and for a file that is
// not open for I/O: a symlink, pipe or device, or any file opened with O_PATH. An UnlinkedNode
// begins with the state that the node had when its last name was removed. No document has this
// state. So with_changes() computes the changes itself, as the store does for a node with a name.
//
// Thread-safety: a plain value. No function changes the object.
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
  // Returns the node after a change of the fields that `changes` has.
  UnlinkedNode with_changes(const gridfs::PosixFields& changes) const;
  // Returns the node after the changes of a setattr request. Ignores the size. ctime becomes the
  // current time unless `changes` sets it.
  UnlinkedNode with_changes(const gridfs::AttributeChanges& changes) const;
};

}  // namespace gridmount::fuse
