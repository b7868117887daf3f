// Repairs the documents of a bucket's directories according to gridfs/NAMESPACE.md.
//
// Not thread-safe.
#pragma once

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Removes documents that describe no directory, and all but the first of several for the same
// directory. Removes a field `posix` that is no document. For a directory whose parent has no
// document, creates the parent and the directories above it, up to the first one that has a
// document. The new directories get the mode 0755, and the owner and the times of the directory
// that lacked a parent.
Status repair_directories(RepairContext& context, const gridfs::Bucket& bucket,
                          const Location& place);

}  // namespace gridmount::tools
