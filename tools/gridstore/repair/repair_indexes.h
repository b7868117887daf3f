// Makes the indexes that a bucket lacks.
#pragma once

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Where a unique index has no room for documents, the one with the least _id of those with the same
// key stays, the others are taken out. An index in its place that does not serve is dropped.
Status repair_indexes(RepairContext& context, const gridfs::Bucket& bucket, const Place& place);

}  // namespace gridmount::tools
