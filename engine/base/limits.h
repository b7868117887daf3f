// Limits that more than one part knows. They are those of MongoDB's servers; the largest document
// is bson::kMaxDocumentBytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gridmount {

// What one operation may hold in memory that sorts, groups or gathers documents, unless its caller
// gives it less.
inline constexpr uint64_t kOperationBytesMax = uint64_t{100} << 20;

// A message of the wire protocol, its header included; what hello calls maxMessageSizeBytes.
inline constexpr uint32_t kMessageBytesMax = 48'000'000;
// The writes of one message; what hello calls maxWriteBatchSize.
inline constexpr uint32_t kMessageWritesMax = 100'000;

}  // namespace gridmount
