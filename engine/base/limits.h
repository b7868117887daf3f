// Limits that several folders use. The values are those of MongoDB's servers. The limit for
// documents is bson::kMaxDocumentBytes.
//
// Thread-safety: constants.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gridmount {

// The memory that one operation may hold while it sorts, groups or gathers documents. The options
// that limit this memory, such as FindOptions::sort_bytes_max, have this constant as their default.
inline constexpr uint64_t kOperationBytesMax = uint64_t{100} << 20;

// The largest message of the wire protocol, header included. hello reports it as
// maxMessageSizeBytes.
inline constexpr uint32_t kMessageBytesMax = 48'000'000;
// The most writes in one message. hello reports it as maxWriteBatchSize.
inline constexpr uint32_t kMessageWritesMax = 100'000;

}  // namespace gridmount
