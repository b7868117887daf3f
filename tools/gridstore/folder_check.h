// The documents of a bucket's folders (`<bucket>.directories`), see gridfs/NAMESPACE.md.
#pragma once

#include "engine/store.h"
#include "gridfs/bucket.h"
#include "tools/gridstore/findings.h"

namespace gridmount::tools {

// Each folder has a usable parent and name, and its parent a document of its own: a folder is made
// explicit together with all above it, so one without is reached by no listing.
Status check_folders(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Place& place,
                     Findings& findings);

}  // namespace gridmount::tools
