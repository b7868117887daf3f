// OpenFile: md5 of files that are written in order, and of small files whose chunks are all dirty.
// stored_md5.h computes all others.

#include <algorithm>

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/stored_chunks.h"
#include "gridfs/bucket/zeros.h"
#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {
namespace {

// The maximum length of a file that a flush hashes as a whole if it was not written in order and is
// still in memory. For such a file this costs less than to read it later.
constexpr int64_t kHashedAgainBytes = 64 * 1024;
// The maximum number of bytes that a commit reads back from the store, and of zeros that it hashes,
// to complete an md5. Beyond these, the md5 is computed later.
constexpr int64_t kReadBackBytes = 8 * 1024 * 1024;
constexpr int64_t kZeroBytesHashed = 64 * 1024 * 1024;

}  // namespace

void OpenFile::break_md5() {
  md5_intact_ = false;
  md5_end_ = 0;
  if (md5_) md5_->abandon();
  md5_.reset();
}

void OpenFile::restart_md5() {
  break_md5();
  md5_intact_ = context_->options.md5;
}

void OpenFile::submit_md5(const Chunk& chunk, uint32_t from, uint32_t to, HashStream::When when) {
  if (!md5_) md5_ = std::make_shared<HashStream>(context_->hasher);
  md5_->submit(ChunkPin(chunk.buffer), {content_of(chunk) + from, to - from}, when);
}

void OpenFile::submit_stored_md5(int64_t n, uint32_t from, uint32_t to) {
  if (!md5_) md5_ = std::make_shared<HashStream>(context_->hasher);
  // The function takes its snapshot only when it runs. Any snapshot will do, because these bytes do
  // not change while the digest is needed.
  md5_->submit([context = context_.get(), id = id_,
                chunk_bytes = static_cast<int32_t>(chunk_bytes_), absent_is_hole = holes_unknown_,
                n, from, to](Md5& md5) {
    const auto snapshot = context->bucket.store().snapshot();
    if (!snapshot) return false;
    StoredChunks chunks(context->bucket.chunks(), id, chunk_bytes);
    const auto chunk = chunks.find_any(**snapshot, n, StoredChunks::Verify::kChecksum);
    if (!chunk) return false;
    if (*chunk) {
      if ((*chunk)->content.size() < to) return false;
      md5.update((*chunk)->content.subspan(from, to - from));
      return true;
    }
    if (!absent_is_hole) return false;
    for (uint32_t at = from; at < to;) {
      const auto part = static_cast<uint32_t>(std::min<size_t>(to - at, zeros().size()));
      md5.update(zeros().first(part));
      at += part;
    }
    return true;
  });
}

void OpenFile::advance_md5() {
  while (md5_intact_) {
    const int64_t n = md5_end_ / chunk_bytes_;
    const auto from = static_cast<uint32_t>(md5_end_ % chunk_bytes_);
    const auto full = static_cast<uint32_t>(chunk_bytes_);
    if ((n + 1) * chunk_bytes_ > length_) return;
    if (const Chunk* chunk = find_in_memory(n)) {
      if (chunk->written.end() < full || chunk->size < full) return;
      submit_md5(*chunk, from, full, HashStream::When::kNow);
    } else if (n < store_end_ && !holes_.contains(n) && !holes_unknown_) {
      // The chunk was written before a chunk in front of it, and has been committed in the
      // meantime.
      submit_stored_md5(n, from, full);
    } else {
      return;
    }
    md5_end_ = (n + 1) * chunk_bytes_;
  }
}

bool OpenFile::complete_md5() {
  const int64_t count = chunk_count(length_);
  if (!md5_intact_) {
    const bool small = context_->options.md5 && length_ <= kHashedAgainBytes &&
                       static_cast<int64_t>(dirty_.size()) == count &&
                       std::none_of(dirty_.begin(), dirty_.end(),
                                    [](const auto& chunk) { return chunk.second.is_partial; });
    if (!small) return false;
    restart_md5();
  }
  int64_t read_back = 0;
  int64_t zero_bytes = 0;
  for (int64_t n = md5_end_ / chunk_bytes_; n < count;) {
    const auto from =
        static_cast<uint32_t>(n == md5_end_ / chunk_bytes_ ? md5_end_ % chunk_bytes_ : 0);
    const uint32_t to = bytes_of_chunk(n, length_, chunk_bytes_);
    int64_t next = n + 1;
    if (const Chunk* chunk = find_in_memory(n)) {
      if (from < to) submit_md5(*chunk, from, to, HashStream::When::kAtDigest);
    } else if (const int64_t hole_end = std::min(holes_.end_of_run(n), count); hole_end > n) {
      const int64_t end = std::min(hole_end * chunk_bytes_, length_);
      const int64_t zeros_here = end - n * chunk_bytes_ - from;
      zero_bytes += zeros_here;
      if (zero_bytes > kZeroBytesHashed) break;
      if (!md5_) md5_ = std::make_shared<HashStream>(context_->hasher);
      md5_->submit_zeros(static_cast<uint64_t>(zeros_here));
      next = hole_end;
    } else {
      read_back += to - from;
      if (read_back > kReadBackBytes) break;
      if (from < to) submit_stored_md5(n, from, to);
    }
    md5_end_ = std::min(next * chunk_bytes_, length_);
    n = next;
  }
  if (md5_end_ == length_) {
    if (!md5_) md5_ = std::make_shared<HashStream>(context_->hasher);
    return true;
  }
  break_md5();
  return false;
}

}  // namespace gridmount::gridfs
