// Repairs the files and chunks of a bucket.
//
// Not thread-safe.
#pragma once

#include <memory>

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Moves a file with wrong chunks, a wrong length or a wrong files document to the bucket lost+found
// (lost_and_found.h). Removes a wrong md5, because nothing shows whether the md5 or the content is
// correct. Replaces an uploadDate that is missing or not a date by the time in the _id, or by the
// current time. Corrects a wrong metadata.storedChunks. If a file is in `files` and in `detached`,
// removes the document in `detached`. Removes chunks without a file that are older than the grace
// period. But if this repair has lost files documents, moves all chunks without a file to
// lost+found. If others may use the store, leaves chunks whose _id has no time, unless the grace
// period is 0. In each case the original documents are kept. Fails with DataCorruptionDetected if
// the repair of a file has no effect.
Status repair_files(RepairContext& context, const gridfs::Bucket& bucket,
                    const std::shared_ptr<engine::Database>& database, const Location& place);

}  // namespace gridmount::tools
