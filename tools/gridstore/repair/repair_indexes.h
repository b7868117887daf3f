// Creates the indexes that a bucket lacks.
//
// Not thread-safe.
#pragma once

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// If documents violate a unique index, the one with the smallest _id of those with the same key
// stays, and the others are removed. An unusable index in its place is dropped.
Status repair_indexes(RepairContext& context, const gridfs::Bucket& bucket, const Location& place);

}  // namespace gridmount::tools
