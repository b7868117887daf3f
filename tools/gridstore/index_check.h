// The indexes that GridFS and the path namespace need.
#pragma once

#include "engine/store.h"
#include "gridfs/bucket.h"
#include "tools/gridstore/findings.h"

namespace gridmount::tools {

// Reports those that a collection of the bucket lacks. A collection that does not exist lacks none.
Status check_indexes(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Place& place,
                     Findings& findings);

}  // namespace gridmount::tools
