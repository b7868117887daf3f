// The default chunkSize of files, and the largest sizes of chunks and files, in bytes.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "engine/bson/value.h"

namespace gridmount::gridfs {

// The chunkSize of new files, unless a user chooses another one. The default of the drivers'
// specification is 255 KiB. Unlike that size, 256 KiB is a power of two and a multiple of the page
// size, so an aligned request of the kernel touches no more chunks than necessary. Files with
// another chunkSize can be read, too.
inline constexpr int32_t kDefaultChunkBytes = 256 * 1024;
// The largest chunkSize of a file that this program creates. With this chunkSize, a chunk document
// has at most 16 MiB if the _id of the file has at most 16,000 bytes. The size is a multiple of 16
// KiB, and so of the usual page sizes.
inline constexpr int32_t kMaxChunkBytes = 16 * 1024 * 1024 - 16 * 1024;
// The largest content that a chunk document of any program can have. A document has at most 16 MiB,
// of which at least 38 bytes are not content, even if the values of _id and files_id have no bytes.
inline constexpr int32_t kMaxStoredChunkBytes = 16 * 1024 * 1024 - 38;
// Returns the largest content of a chunk document that this program can create for the file with
// the _id `files_id`. Never returns less than 1.
int32_t max_chunk_bytes(bson::ValueView files_id);
// Returns the largest length of a file with the chunkSize `chunk_bytes`. The chunk number n is an
// int32, so a file has at most 2^31 chunks.
int64_t max_file_bytes(int32_t chunk_bytes);

}  // namespace gridmount::gridfs
