// Assembles the bytes of one read from chunks in memory, from the store, and from holes.
//
// Not thread-safe. A FileReader must be used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gridfs/bucket/bucket.h"
#include "gridfs/bucket/stored_chunks.h"
#include "gridfs/content/chunk_cache.h"
#include "gridfs/content/chunk_memory.h"
#include "gridfs/content/file.h"

namespace gridmount::gridfs {

class FileReader {
 public:
  // These functions add the pieces of the read, in order. add_memory() pins `buffer`, which must
  // hold `bytes`, as long as the bytes are needed.
  void add_memory(const std::shared_ptr<ChunkBuffer>& buffer, std::span<const uint8_t> bytes);
  void add_zeros(uint64_t count);
  struct StoredPiece {
    int64_t n = 0;
    uint32_t begin = 0;  // within the chunk
    uint32_t end = 0;
    StoredChunks::Verify verify = StoredChunks::Verify::kNothing;
  };
  void add_stored(StoredPiece piece);

  bool needs_store() const { return needs_store_; }
  // The snapshot from which stored pieces are read, and the state of the file in it.
  // `absent_is_hole`: a chunk that the store does not have reads as zeros. With a cache, `snapshot`
  // may be null: finish() then begins a snapshot if it needs one.
  struct Source {
    std::unique_ptr<engine::Snapshot> snapshot;
    int64_t length = 0;
    bool absent_is_hole = false;
    CachedChunks* cache = nullptr;
    uint64_t version = 0;                     // with a cache: the version of the stored content
    std::optional<CachedContent> known = {};  // with a cache: the stored content; unset if unknown
    int64_t chunk_bytes = 0;                  // with a cache
    // `snapshot` is a short snapshot. finish() copies the bytes and ends the snapshot.
    bool is_short = false;
  };
  void set_source(Source source) { source_ = std::move(source); }
  const Source& source() const { return source_; }

  // Reads the stored pieces. The result keeps the bytes alive: it owns the snapshot, and holds the
  // buffers and the cached chunks. With `is_short`, the result owns a copy of the bytes instead.
  // Fails with ChunkIsMissing or ChunkIsWrongSize, with FileDeleted if the store lacks a chunk
  // because the file has been deleted, and with the errors of the store.
  Result<ReadResult> finish(StoredChunks& chunks, const Bucket& bucket,
                            bson::ValueView files_id) &&;

 private:
  struct Piece {
    std::span<const uint8_t> bytes;  // in memory
    StoredPiece stored;              // used if `bytes` is empty
    bool is_absent = false;          // the cache knows that the store does not have the chunk
  };

  void append(ReadResult& result, std::span<const uint8_t> bytes);
  // Makes the result independent of the snapshot and of chunks in memory.
  static void copy_pieces(ReadResult& result);
  // Replaces stored pieces with what the cache has or can fetch.
  Status read_cache();
  Result<engine::Snapshot*> snapshot(const Bucket& bucket);

  std::vector<Piece> pieces_;
  std::vector<std::shared_ptr<const void>> held_;
  bool needs_store_ = false;
  Source source_;
};

}  // namespace gridmount::gridfs
