// The chunkSize of files: the default, and the limits of chunks and files that follow from it.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "engine/bson/value.h"

namespace gridmount::gridfs {

// The chunkSize of new files, unless another one is chosen. It is 256 KiB and not the
// specification's 255 KiB: a multiple of the page size and a power of two, so that an aligned
// request of the kernel touches no more chunks than it must. Files of any chunkSize can be read.
inline constexpr int32_t kDefaultChunkBytes = 256 * 1024;
// The largest chunkSize of files made here. A chunk document then stays within 16 MiB with any _id
// of up to 16,000 bytes, and the size is a multiple of the page size.
inline constexpr int32_t kMaxChunkBytes = 16 * 1024 * 1024 - 16 * 1024;
// The largest content that a chunk document can have, whoever made it: 16 MiB without the fields
// _id, files_id, n and data, if the values of _id and files_id have no bytes.
inline constexpr int32_t kMaxStoredChunkBytes = 16 * 1024 * 1024 - 38;
// Returns the largest content that a chunk document made here can have for the file with that _id.
// At least 1.
int32_t max_chunk_bytes(bson::ValueView files_id);
// Returns the length of the largest file whose chunks have that size. The length is limited because
// n is an int32.
int64_t max_file_bytes(int32_t chunk_bytes);

}  // namespace gridmount::gridfs
