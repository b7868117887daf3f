// Chunk documents {_id: ObjectId, files_id, n: int32, data: Binary}: how one is laid out in memory,
// so that a buffer of content is the document, and how one is read, whoever made it.
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

// The layout of one file's chunk documents. As files_id has one size, the content stands at the
// same place in each: header, content, NUL. Immutable.
class ChunkLayout {
 public:
  ChunkLayout(bson::ValueView files_id, int32_t chunk_bytes);

  uint32_t header_bytes() const { return static_cast<uint32_t>(header_.size()); }
  // What a document with a full chunk occupies.
  uint32_t capacity() const { return header_bytes() + chunk_bytes_ + 1; }

  // Writes everything before the content; lengths and n are finish()'s.
  void begin(uint8_t* document, bson::ObjectId id) const;
  void set_id(uint8_t* document, bson::ObjectId id) const;
  // Completes the document around content_bytes of content that stand behind the header. Writes to
  // the header and to the byte behind the content only.
  bson::View finish(uint8_t* document, int32_t n, uint32_t content_bytes) const;

 private:
  std::vector<uint8_t> header_;
  uint32_t chunk_bytes_;
};

// The filter {files_id: X, n: N}; its n is set without building it anew. One thread at a time.
class ChunkFilter {
 public:
  explicit ChunkFilter(bson::ValueView files_id);
  // Valid until the next call.
  bson::View at(int32_t n);

 private:
  std::vector<uint8_t> bytes_;
};

// {`field`: value}, right also where value is a document. {_id: X} and {files_id: X}.
bson::Document equals(std::string_view field, bson::ValueView value);
// {files_id: X, n: {$gte: first, $lt: last}}.
bson::Document chunk_range(bson::ValueView files_id, int64_t first, int64_t last);

// The chunks of one file in the store. Cheap to make; one thread at a time.
class StoredChunks {
 public:
  StoredChunks(engine::Collection& chunks, bson::ValueView files_id, int32_t chunk_bytes);

  struct Chunk {
    bson::ValueView id;
    std::span<const uint8_t> content;  // points into the store
  };
  enum class Verify { kChecksum, kNothing };  // kNothing: the caller reads part of the chunk

  // Chunk `n` of a file of `length` bytes; nothing if there is none. ChunkIsWrongSize unless it has
  // exactly the bytes it must have.
  Result<std::optional<Chunk>> find(engine::Snapshot& snapshot, int64_t n, int64_t length,
                                    Verify verify);
  // The same, whatever the size of the content.
  Result<std::optional<Chunk>> find_any(engine::Snapshot& snapshot, int64_t n, Verify verify);

  // Asks the disk for the chunks [first, last).
  void prefetch(engine::Snapshot& snapshot, int64_t first, int64_t last);

 private:
  engine::Collection& chunks_;
  const bson::Value files_id_;
  const int64_t chunk_bytes_;
  ChunkFilter filter_;
};

// The numbers of a file's chunks in [first, last), in order: documents of which `n` alone is read.
Result<std::unique_ptr<engine::Cursor>> chunks_by_number(engine::Collection& chunks,
                                                         engine::Snapshot& snapshot,
                                                         bson::ValueView files_id, int64_t first,
                                                         int64_t last);

// The ChunkIsMissing error of chunk `n`.
tl::unexpected<Error> chunk_is_missing(bson::ValueView files_id, int64_t n);

// The bytes chunk `n` has in a file of `length` bytes: 0 behind its end.
uint32_t bytes_of_chunk(int64_t n, int64_t length, int64_t chunk_bytes);

}  // namespace gridmount::gridfs
