// Repairs the files and chunks of a bucket.
//
// Not thread-safe.
#pragma once

#include <memory>

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// A file whose chunks, length or document are wrong moves to the bucket lost+found
// (lost_and_found.h). A wrong md5 is removed, because nothing shows whether the md5 or the content
// is correct. A missing uploadDate is replaced by the time in the _id, or by the current time.
// Chunks without a file are removed once they are older than the grace period. In each case the
// original documents are kept.
Status repair_files(RepairContext& context, const gridfs::Bucket& bucket,
                    const std::shared_ptr<engine::Database>& database, const Location& place);

}  // namespace gridmount::tools
