// What stat shows of a file that no longer has a name, and so no Node: made from the open file
// itself.
#pragma once

#include "gridfs/bucket/files_document.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::fuse {

// `defaults` stand in for POSIX fields the document does not have. nlink is 0.
gridfs::Attributes nameless_attributes(const gridfs::FilesDocument& document,
                                       const gridfs::VolumeOptions& defaults);

// The mount's root when it lists the buckets: no document describes it.
gridfs::Attributes mount_root_attributes(const gridfs::VolumeOptions& defaults, timespec changed);

}  // namespace gridmount::fuse
