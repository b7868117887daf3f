// Builds the attributes of nodes that have no gridfs::Node. Pure functions, so thread-safe.
#pragma once

#include "gridfs/bucket/files_document.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::fuse {

// Returns the attributes of an open file that no longer has a name. `document` is the open file's
// files document. `defaults` replace the POSIX fields that the document does not have. nlink is 0.
gridfs::Attributes unlinked_attributes(const gridfs::FilesDocument& document,
                                       const gridfs::NamespaceOptions& defaults);

// Returns the attributes of a mount root that lists the buckets. No document describes such a root.
// `changed` becomes atime, mtime and ctime.
gridfs::Attributes mount_root_attributes(const gridfs::NamespaceOptions& defaults,
                                         timespec changed);

}  // namespace gridmount::fuse
