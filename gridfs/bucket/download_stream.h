// Makes the DownloadStream of a Bucket. The stream belongs to one thread at a time.
#pragma once

#include <memory>
#include <optional>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

// Returns a stream that reads `file` from `snapshot`. `bucket` must outlive the stream. Fails with
// InvalidRange if the range is negative, ends before it begins, or reaches beyond the end of the
// file.
Result<std::unique_ptr<DownloadStream>> make_download_stream(
    const Bucket& bucket, std::unique_ptr<engine::Snapshot> snapshot, FilesDocument file,
    std::optional<ByteRange> range);

}  // namespace gridmount::gridfs
