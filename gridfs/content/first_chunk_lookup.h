// Reads a files document and the file's first chunk with one command instead of two. Leaves out a
// chunk of more than kFirstChunkBytesMax bytes. This class is for a store over a network, where
// each command costs a round trip.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

class FirstChunkLookup {
 public:
  // `bucket` must outlive this object.
  explicit FirstChunkLookup(const Bucket& bucket);

  // Returns false for a store that only this process uses (Capabilities::exclusive), and after the
  // server has refused the command once.
  bool is_usable() const { return is_usable_; }

  struct Found {
    std::optional<bson::Document> file;  // unset if `files` does not have the document
    // The chunk's content. The server reads the chunk later than the files document, so the content
    // can be newer than the document. Null if the content has more than kFirstChunkBytesMax bytes
    // or is not binary, or if the chunk does not exist.
    std::shared_ptr<const std::vector<uint8_t>> chunk;
  };
  // Returns nothing if the server refuses the command, that is, answers with an error that is not
  // transient. Fails if the error is transient, or if reading the answer fails.
  Result<std::optional<Found>> find(bson::ValueView id) const;

  static constexpr int64_t kFirstChunkBytesMax = 64 * 1024;

 private:
  const Bucket& bucket_;
  mutable std::atomic<bool> is_usable_;
};

}  // namespace gridmount::gridfs
