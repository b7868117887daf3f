// Creates the indexes that a bucket lacks.
//
// Not thread-safe.
#pragma once

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// If several documents have the same key in a unique index, keeps the one with the smallest _id and
// removes the others. Drops an existing index that has the name or the keys of the missing one and
// cannot be used in its place. Reports what it does as findings about `place`, which names the
// bucket.
Status repair_indexes(RepairContext& context, const gridfs::Bucket& bucket, const Location& place);

}  // namespace gridmount::tools
