#include "gridfs/bucket/chunk_size.h"

#include <algorithm>
#include <limits>

#include "engine/bson/document.h"

namespace gridmount::gridfs {

int32_t max_chunk_bytes(bson::ValueView files_id) {
  // The size of a chunk document without the value of files_id and without the content.
  constexpr int64_t kOtherBytes = 50;
  const int64_t bytes = int64_t{bson::kMaxDocumentBytes} - kOtherBytes - files_id.size();
  return static_cast<int32_t>(std::max<int64_t>(bytes, 1));
}

int64_t max_file_bytes(int32_t chunk_bytes) {
  return (int64_t{std::numeric_limits<int32_t>::max()} + 1) * chunk_bytes;
}

}  // namespace gridmount::gridfs
