// A node that has lost its last name, for whoever still holds it: a folder that is open or
// somebody's working folder, a file without an open content (a symbolic link, pipe or device, or
// any by O_PATH). No document tells of it any more; what is left is as it was when the name went,
// and may be changed as that of a node with a name.
//
// Thread-safety: values and pure functions, but for the time.
#pragma once

#include "gridfs/bucket/files_document.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::fuse {

struct LostNode {
  gridfs::Attributes attributes;  // nlink is 0
  // What these do not have: extended attributes, a link's target. Times and owners are not used.
  gridfs::PosixFields posix;

  LostNode() { attributes.nlink = 0; }
  LostNode(gridfs::Attributes last, gridfs::PosixFields fields);

  // As PosixChange wants what a node has.
  gridfs::PosixFields fields() const;
  LostNode with(const gridfs::PosixFields& changes) const;
  // setattr(2), but for the size. ctime becomes now unless given.
  LostNode with(const gridfs::AttributeChanges& changes) const;
};

}  // namespace gridmount::fuse
