// OpenFile: finding holes.
//
// Every absent chunk is part of a hole. In a chunk that borders on a hole, or on the beginning or
// end of the file, each block of zeros is also part of a hole. The search reads no other chunks. So
// for a file without holes it reads at most two chunks.

#include <algorithm>

#include "gridfs/bucket/stored_chunks.h"
#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {
namespace {

bool is_zero(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

Result<OpenFile::Content> OpenFile::find_content(int64_t n) {
  Content content;
  GM_ASSIGN(const Chunk* const chunk, find_whole(n));
  if (chunk != nullptr) {
    content.bytes = {content_of(*chunk), chunk->size};
    return content;
  }
  GM_ASSIGN(content.snapshot, context_->bucket.store().snapshot());
  StoredChunks chunks(context_->bucket.chunks(), id_, static_cast<int32_t>(chunk_bytes_));
  GM_ASSIGN(const std::optional<StoredChunks::Chunk> stored,
            chunks.find_any(*content.snapshot, n, StoredChunks::Verify::kNothing));
  // An absent chunk yields no bytes here. A read of it later finds out whether it is a hole or
  // missing.
  if (stored) content.bytes = stored->content;
  return content;
}

Result<std::optional<int64_t>> OpenFile::next_block(int64_t n, int64_t offset, bool of_zeros) {
  GM_ASSIGN(const Content content, find_content(n));
  const int64_t begin = n * chunk_bytes_;
  const int64_t end = std::min(begin + chunk_bytes_, length_);
  const auto size = static_cast<int64_t>(content.bytes.size());
  for (int64_t block = offset / kBlockBytes * kBlockBytes; block < end; block += kBlockBytes) {
    const int64_t from = std::min(std::max(block, begin) - begin, size);
    const int64_t to = std::min(std::min(block + kBlockBytes, end) - begin, size);
    const bool zeros =
        is_zero(content.bytes.subspan(static_cast<size_t>(from), static_cast<size_t>(to - from)));
    if (zeros == of_zeros) return std::optional(std::max(block, offset));
  }
  return std::optional<int64_t>();
}

Result<bool> OpenFile::is_hole(int64_t n) {
  if (n < 0 || n >= chunk_count(length_)) return true;
  if (find_in_memory(n) != nullptr) return false;
  if (holes_.contains(n)) return true;
  if (!holes_unknown_) return false;
  GM_ASSIGN(const int64_t next, next_chunk(n, n + 1));
  return next != n;
}

Status OpenFile::look_for_hole(int64_t n) {
  if (!holes_unknown_ || n >= chunk_count(length_)) return {};
  GM_ASSIGN(const bool found, is_hole(n));
  if (found) holes_.add(n, n + 1);
  return {};
}

Result<bool> OpenFile::is_edge(int64_t n) {
  if (chunk_bytes_ <= kBlockBytes) return false;
  GM_ASSIGN(const bool begins, is_hole(n - 1));
  if (begins) return true;
  return is_hole(n + 1);
}

Result<std::optional<int64_t>> OpenFile::next_data(int64_t offset) {
  MutexLock lock(mutex_);
  const int64_t end = chunk_count(length_);
  for (int64_t n = offset / chunk_bytes_; offset < length_ && n < end;) {
    if (const int64_t hole_end = holes_.end_of_run(n);
        hole_end != n && find_in_memory(n) == nullptr) {
      n = hole_end;
      continue;
    }
    if (holes_unknown_ && find_in_memory(n) == nullptr) {
      GM_ASSIGN(n, next_chunk(n, end));
      if (n >= end) break;
    }
    const int64_t from = std::max(offset, n * chunk_bytes_);
    GM_ASSIGN(const bool edge, is_edge(n));
    if (!edge) return std::optional(from);
    GM_ASSIGN(const std::optional<int64_t> data, next_block(n, from, /*of_zeros=*/false));
    if (data) return data;
    ++n;
  }
  return std::optional<int64_t>();
}

Result<int64_t> OpenFile::next_chunk(int64_t n, int64_t end) {
  int64_t next = end;
  for (const Chunks* chunks : {&dirty_, &frozen_}) {
    const auto found = chunks->lower_bound(n);
    if (found == chunks->end() || (chunks == &frozen_ && found->first >= frozen_end_)) continue;
    next = std::min(next, found->first);
  }
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context_->bucket.store().snapshot());
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            chunks_by_number(context_->bucket.chunks(), *snapshot, id_, n, store_end_));
  GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
  if (document) next = std::min(next, (*document)["n"].integral().value_or(end));
  return next;
}

Result<int64_t> OpenFile::next_hole_chunk(int64_t n) {
  const int64_t end = chunk_count(length_);
  if (!holes_unknown_) return std::min(holes_.next_run(n), end);
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context_->bucket.store().snapshot());
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            chunks_by_number(context_->bucket.chunks(), *snapshot, id_, n, store_end_));
  int64_t stored = n - 1;  // number of the last chunk read
  for (; n < end; ++n) {
    if (find_in_memory(n) != nullptr) continue;
    while (stored < n) {
      GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
      stored = document ? (*document)["n"].integral().value_or(end) : end;
    }
    if (stored != n || holes_.contains(n)) break;
  }
  return n;
}

Result<std::optional<int64_t>> OpenFile::next_hole(int64_t offset) {
  MutexLock lock(mutex_);
  if (offset >= length_) return std::optional<int64_t>();
  const int64_t first = offset / chunk_bytes_;
  GM_ASSIGN(const int64_t hole, next_hole_chunk(first));
  // Among the chunks before the hole, only the first and the last can border on a hole or on an end
  // of the file.
  for (const int64_t n : {first, hole - 1}) {
    if (n < first || n >= hole) continue;
    GM_ASSIGN(const bool edge, is_edge(n));
    if (!edge) continue;
    const int64_t from = std::max(offset, n * chunk_bytes_);
    GM_ASSIGN(const std::optional<int64_t> zeros, next_block(n, from, /*of_zeros=*/true));
    if (zeros) return zeros;
  }
  return std::optional(std::clamp(hole * chunk_bytes_, offset, length_));
}

}  // namespace gridmount::gridfs
