// Makes the UploadStream of a Bucket. The stream belongs to one thread at a time.
#pragma once

#include <memory>
#include <string_view>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

// `bucket` must outlive the stream. `chunk_bytes` must be between 1 and kMaxChunkBytes.
std::unique_ptr<UploadStream> make_upload_stream(const Bucket& bucket, std::string_view filename,
                                                 const UploadOptions& options, int32_t chunk_bytes);

}  // namespace gridmount::gridfs
