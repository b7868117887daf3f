// Repairs the documents of additional hard links according to gridfs/NAMESPACE.md.
//
// Not thread-safe.
#pragma once

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Removes links that lead to no file or repeat the file's own name, and corrects the link counts of
// files.
Status repair_links(RepairContext& context, const gridfs::Bucket& bucket, const Location& place);

}  // namespace gridmount::tools
