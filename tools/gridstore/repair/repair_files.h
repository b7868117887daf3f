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
// is correct. A missing uploadDate is replaced by the time in the _id, or by the current time. A
// wrong metadata.storedChunks is corrected. The document in `detached` of a file that is also in
// `files` is removed. Chunks without a file are removed once they are older than the grace period.
// But they move to lost+found if this repair has lost files documents. In a store that others use,
// chunks stay if their _id has no time and the grace period is not 0. In each case the original
// documents are kept. Fails with DataCorruptionDetected if the repair of a file has no effect.
Status repair_files(RepairContext& context, const gridfs::Bucket& bucket,
                    const std::shared_ptr<engine::Database>& database, const Location& place);

}  // namespace gridmount::tools
