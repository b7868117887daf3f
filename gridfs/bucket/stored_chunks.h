// Reads the chunks of a file from the store: the content of one chunk by its number, or the numbers
// of the stored chunks in order. Any driver may have written these chunks, so their form is
// checked.
//
// The functions are thread-safe. StoredChunks is not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "engine/bson/value.h"
#include "engine/store.h"
#include "gridfs/bucket/chunk_document.h"

namespace gridmount::gridfs {

// The chunks of one file in the store. Cheap to construct. Not thread-safe. `chunks` must outlive
// the object.
class StoredChunks {
 public:
  // With kAll, each Chunk is valid until the snapshot ends. With kLast, only the Chunk that was
  // found last is valid. A stream may be of any length, so it uses kLast: the contents then do not
  // accumulate in memory.
  enum class Valid { kAll, kLast };
  StoredChunks(engine::Collection& chunks, bson::ValueView files_id, int32_t chunk_bytes,
               Valid valid = Valid::kAll);

  struct Chunk {
    bson::ValueView id;
    std::span<const uint8_t> content;  // points into the store
  };
  enum class Verify { kChecksum, kNothing };  // kNothing: the caller reads only a part

  // Returns chunk `n` of a file of `length` bytes, or nothing if the store does not have it. Fails
  // with ChunkIsWrongSize unless the chunk has exactly the size that follows from `length`, and as
  // Collection::find_one() does.
  Result<std::optional<Chunk>> find(engine::Snapshot& snapshot, int64_t n, int64_t length,
                                    Verify verify);
  // Like find(), but accepts any size of the content. find() and find_any() fail with
  // ChunkIsWrongSize if the chunk has no binary data.
  Result<std::optional<Chunk>> find_any(engine::Snapshot& snapshot, int64_t n, Verify verify);

  // Returns whether the store has chunk `n` with this number of bytes, and can overwrite a part of
  // it (engine/binary_overwrite.h). Does not read the content.
  Result<bool> can_overwrite(engine::Snapshot& snapshot, int64_t n, uint32_t bytes);

  // Asks the store to read the chunks [first, last) from the disk ahead of their use.
  void prefetch(engine::Snapshot& snapshot, int64_t first, int64_t last);

 private:
  engine::Collection& chunks_;
  const bson::Value files_id_;
  const int64_t chunk_bytes_;
  const bool one_at_a_time_;
  ChunkFilter filter_;
};

// Returns a cursor over a file's chunks with first <= n < last, ordered by n. Reads only the field
// `n` of each document.
Result<std::unique_ptr<engine::Cursor>> chunks_by_number(engine::Collection& chunks,
                                                         engine::Snapshot& snapshot,
                                                         bson::ValueView files_id, int64_t first,
                                                         int64_t last);

// These functions return the errors ChunkIsMissing and ChunkIsWrongSize for chunk `n`.
tl::unexpected<Error> chunk_is_missing(bson::ValueView files_id, int64_t n);
tl::unexpected<Error> chunk_is_wrong_size(bson::ValueView files_id, int64_t n);

}  // namespace gridmount::gridfs
