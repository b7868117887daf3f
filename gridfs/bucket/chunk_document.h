// The layout of chunk documents {_id: ObjectId, files_id, n: int32, data: Binary} in memory. A
// buffer of content has this layout, so the content is stored without a copy. This header also has
// the filters that find chunk documents. stored_chunks.h reads chunk documents.
//
// The functions and ChunkLayout are thread-safe. ChunkFilter is not.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::gridfs {

// The layout of one file's chunk documents: header, content, NUL. files_id has a fixed size, so the
// content begins at the same offset in each document. Immutable, so safe to share.
class ChunkLayout {
 public:
  ChunkLayout(bson::ValueView files_id, int32_t chunk_bytes);

  uint32_t header_bytes() const { return static_cast<uint32_t>(header_.size()); }
  // Returns the size of a document with a full chunk.
  uint32_t capacity() const { return header_bytes() + chunk_bytes_ + 1; }

  // Writes everything before the content, except the lengths and n, which finish() writes.
  // `document` points to capacity() bytes.
  void begin(uint8_t* document, bson::ObjectId id) const;
  // Writes another _id into a document that begin() has begun.
  void set_id(uint8_t* document, bson::ObjectId id) const;
  // Completes the document. `content_bytes` bytes of content must already stand after the header.
  // Writes only to the header and to the byte after the content. Returns a view of the whole
  // document.
  bson::View finish(uint8_t* document, int32_t n, uint32_t content_bytes) const;

 private:
  std::vector<uint8_t> header_;
  uint32_t chunk_bytes_;
};

// The filter {files_id: X, n: N}. at() writes another n into the same document. Not thread-safe.
class ChunkFilter {
 public:
  explicit ChunkFilter(bson::ValueView files_id);
  // The view is valid until the next call.
  bson::View at(int32_t n);

 private:
  std::vector<uint8_t> bytes_;
};

// Returns a filter for `field` equal to `value`, which may be a document. Used for _id and
// files_id.
bson::Document equals(std::string_view field, bson::ValueView value);
// Returns the filter {files_id: X, n: {$gte: first, $lt: last}}.
bson::Document chunk_range(bson::ValueView files_id, int64_t first, int64_t last);

// Returns how many bytes chunk `n` has in a file of `length` bytes. Returns 0 for a chunk beyond
// the end of the file.
uint32_t bytes_of_chunk(int64_t n, int64_t length, int64_t chunk_bytes);

}  // namespace gridmount::gridfs
