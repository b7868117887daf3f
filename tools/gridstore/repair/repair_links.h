// Mends the documents of files' further names, as gridfs/NAMESPACE.md requires them.
#pragma once

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Names that are nobody's are taken out; files note how many names they have.
Status repair_links(RepairContext& context, const gridfs::Bucket& bucket, const Place& place);

}  // namespace gridmount::tools
