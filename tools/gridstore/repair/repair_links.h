// Repairs the documents of additional hard links (`<bucket>.links`) as gridfs/NAMESPACE.md
// describes them.
//
// Not thread-safe: the caller must use the context alone.
#pragma once

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Removes links that are invalid, links that lead to no file, and links that repeat the filename of
// their file. Corrects the number of additional names in files documents. Copies each removed
// document to the keep folder first, and reports each repair to the findings under `place`. Changes
// the bucket in several transactions: after an error, the repairs that were committed stay. Skips
// problems that others have removed meanwhile.
Status repair_links(RepairContext& context, const gridfs::Bucket& bucket, const Location& place);

}  // namespace gridmount::tools
