// Mends a bucket's files and chunks.
#pragma once

#include <memory>

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// A file whose chunks, length or document are wrong moves to the bucket lost+found
// (lost_and_found.h). A wrong md5 is removed, as it cannot be told whether it or the content is the
// right one; a missing uploadDate is the _id's time, or now. Chunks without a file are taken out
// once they are older than the grace. In each case the documents are kept as they were.
Status repair_files(RepairContext& context, const gridfs::Bucket& bucket,
                    const std::shared_ptr<engine::Database>& database, const Place& place);

}  // namespace gridmount::tools
