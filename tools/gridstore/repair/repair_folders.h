// Mends the documents of a bucket's folders, as gridfs/NAMESPACE.md requires them.
#pragma once

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Documents that are no folder's are taken out, of several for one folder all but the first; a
// folder without a parent is given one, with its own owner and times and all above it.
Status repair_folders(RepairContext& context, const gridfs::Bucket& bucket, const Place& place);

}  // namespace gridmount::tools
