#include "gridfs/content/file_reader.h"

#include <algorithm>
#include <utility>

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/stored_chunks.h"
#include "gridfs/bucket/zeros.h"

namespace gridmount::gridfs {

void FileReader::add_memory(const std::shared_ptr<ChunkBuffer>& buffer,
                            std::span<const uint8_t> bytes) {
  held_.push_back(std::make_shared<ChunkPin>(buffer));
  pieces_.push_back({bytes, {}});
}

void FileReader::add_zeros(uint64_t count) {
  while (count > 0) {
    const size_t part = std::min<uint64_t>(count, zeros().size());
    pieces_.push_back({zeros().first(part), {}});
    count -= part;
  }
}

void FileReader::add_stored(StoredPiece piece) {
  needs_store_ = true;
  pieces_.push_back({{}, piece});
}

void FileReader::append(ReadResult& result, std::span<const uint8_t> bytes) {
  // iovec is not const, although nobody writes through it.
  result.pieces_.push_back({const_cast<uint8_t*>(bytes.data()), bytes.size()});
  result.size_ += bytes.size();
}

Status FileReader::read_cache() {
  const auto is_stored = [&](size_t i) { return i < pieces_.size() && pieces_[i].bytes.empty(); };
  for (size_t begin = 0, end = 0; begin < pieces_.size(); begin = end) {
    end = begin + 1;
    if (!is_stored(begin)) continue;
    const int64_t first = pieces_[begin].stored.n;
    while (is_stored(end) && pieces_[end].stored.n == pieces_[end - 1].stored.n + 1) ++end;
    GM_ASSIGN(
        const std::vector<ChunkCache::Content> contents,
        source_.cache->read(source_.version, source_.known, first, pieces_[end - 1].stored.n + 1));
    for (size_t i = begin; i < end; ++i) {
      Piece& piece = pieces_[i];
      const StoredPiece& stored = piece.stored;
      const ChunkCache::Content& content = contents[i - begin];
      piece.is_absent = content == nullptr;
      // If the content has another size, finish() reads the chunk from the store, which reports
      // what is wrong.
      if (!content ||
          content->size() != bytes_of_chunk(stored.n, source_.length, source_.chunk_bytes)) {
        continue;
      }
      held_.push_back(content);
      piece.bytes = std::span(*content).subspan(stored.begin, stored.end - stored.begin);
    }
  }
  return {};
}

Result<engine::Snapshot*> FileReader::snapshot(const Bucket& bucket) {
  if (!source_.snapshot) {
    GM_ASSIGN(source_.snapshot, bucket.store().snapshot());
  }
  return source_.snapshot.get();
}

Result<ReadResult> FileReader::finish(StoredChunks& chunks, const Bucket& bucket,
                                      bson::ValueView files_id) && {
  if (source_.cache != nullptr) GM_TRY(read_cache());
  bool is_known_to_be_there = false;
  ReadResult result;
  result.pieces_.reserve(pieces_.size());
  for (const Piece& piece : pieces_) {
    if (!piece.bytes.empty()) {
      append(result, piece.bytes);
      continue;
    }
    const StoredPiece& stored = piece.stored;
    const size_t size = stored.end - stored.begin;
    GM_ASSIGN(engine::Snapshot* const snapshot, this->snapshot(bucket));
    if (!piece.is_absent || !source_.absent_is_hole) {
      GM_ASSIGN(const std::optional<StoredChunks::Chunk> chunk,
                chunks.find(*snapshot, stored.n, source_.length, stored.verify));
      if (chunk) {
        append(result, chunk->content.subspan(stored.begin, size));
        continue;
      }
    }
    if (!std::exchange(is_known_to_be_there, true)) {
      GM_TRY(bucket.expect_file(*snapshot, files_id));
    }
    if (!source_.absent_is_hole) return chunk_is_missing(files_id, stored.n);
    for (size_t done = 0; done < size;) {
      const std::span<const uint8_t> part = zeros().first(std::min(size - done, zeros().size()));
      append(result, part);
      done += part.size();
    }
  }
  result.held_ = std::move(held_);
  if (source_.is_short) {
    copy_pieces(result);
    source_.snapshot.reset();
  }
  result.snapshot_ = std::move(source_.snapshot);
  return result;
}

void FileReader::copy_pieces(ReadResult& result) {
  const auto copy = std::make_shared<std::vector<uint8_t>>();
  copy->reserve(result.size_);
  for (const iovec& piece : result.pieces_) {
    const auto* const bytes = static_cast<const uint8_t*>(piece.iov_base);
    copy->insert(copy->end(), bytes, bytes + piece.iov_len);
  }
  result.pieces_.clear();
  if (!copy->empty()) result.pieces_.push_back({copy->data(), copy->size()});
  result.held_ = {copy};
}

}  // namespace gridmount::gridfs
