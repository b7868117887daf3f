// How chunk documents {_id: ObjectId, files_id, n: int32, data: Binary} are laid out in memory, so
// that a buffer of content can be stored as the document without a copy; and how to read one,
// whoever wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/store.h"
#include "gridfs/bucket/files_document.h"

namespace gridmount::gridfs {

// The layout of one file's chunk documents: header, content, NUL. files_id has a fixed size, so the
// content begins at the same offset in each. Immutable, so safe to share.
class ChunkLayout {
 public:
  ChunkLayout(bson::ValueView files_id, int32_t chunk_bytes);

  uint32_t header_bytes() const { return static_cast<uint32_t>(header_.size()); }
  // Returns the size of a document with a full chunk.
  uint32_t capacity() const { return header_bytes() + chunk_bytes_ + 1; }

  // Writes everything before the content, except the lengths and n, which finish() writes.
  void begin(uint8_t* document, bson::ObjectId id) const;
  void set_id(uint8_t* document, bson::ObjectId id) const;
  // Completes the document around `content_bytes` bytes of content that stand after the header.
  // Writes only to the header and to the byte after the content.
  bson::View finish(uint8_t* document, int32_t n, uint32_t content_bytes) const;

 private:
  std::vector<uint8_t> header_;
  uint32_t chunk_bytes_;
};

// The filter {files_id: X, n: N}. Changing n does not build it anew. Not thread-safe.
class ChunkFilter {
 public:
  explicit ChunkFilter(bson::ValueView files_id);
  // The view is valid until the next call.
  bson::View at(int32_t n);

 private:
  std::vector<uint8_t> bytes_;
};

// Returns the filter {`field`: value}, correct even if value is a document. Used for {_id: X} and
// {files_id: X}.
bson::Document equals(std::string_view field, bson::ValueView value);
// {files_id: X, n: {$gte: first, $lt: last}}.
bson::Document chunk_range(bson::ValueView files_id, int64_t first, int64_t last);

// The chunks of one file in the store. Cheap to construct. Not thread-safe.
class StoredChunks {
 public:
  StoredChunks(engine::Collection& chunks, bson::ValueView files_id, int32_t chunk_bytes);

  struct Chunk {
    bson::ValueView id;
    std::span<const uint8_t> content;  // points into the store
  };
  enum class Verify { kChecksum, kNothing };  // kNothing: the caller reads part of the chunk

  // Returns chunk `n` of a file of `length` bytes, or nothing if the store does not have it. Fails
  // with ChunkIsWrongSize unless it has exactly the expected number of bytes.
  Result<std::optional<Chunk>> find(engine::Snapshot& snapshot, int64_t n, int64_t length,
                                    Verify verify);
  // Like find(), but accepts any size of the content.
  Result<std::optional<Chunk>> find_any(engine::Snapshot& snapshot, int64_t n, Verify verify);

  // Asks the disk to read the chunks [first, last) ahead.
  void prefetch(engine::Snapshot& snapshot, int64_t first, int64_t last);

 private:
  engine::Collection& chunks_;
  const bson::Value files_id_;
  const int64_t chunk_bytes_;
  ChunkFilter filter_;
};

// Returns a file's chunks in [first, last), ordered by n. Of each document only `n` is read.
Result<std::unique_ptr<engine::Cursor>> chunks_by_number(engine::Collection& chunks,
                                                         engine::Snapshot& snapshot,
                                                         bson::ValueView files_id, int64_t first,
                                                         int64_t last);

// Returns the ChunkIsMissing error for chunk `n`.
tl::unexpected<Error> chunk_is_missing(bson::ValueView files_id, int64_t n);

// Returns how many bytes chunk `n` has in a file of `length` bytes: 0 after its end.
uint32_t bytes_of_chunk(int64_t n, int64_t length, int64_t chunk_bytes);

}  // namespace gridmount::gridfs
