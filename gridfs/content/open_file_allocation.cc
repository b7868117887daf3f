// OpenFile: allocation by fallocate(2).

#include <algorithm>

#include "gridfs/bucket/stored_chunks.h"
#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {
namespace {

int64_t block_from(int64_t offset) {
  return offset / kBlockBytes * kBlockBytes;
}

int64_t block_to(int64_t end) {
  return block_from(end + kBlockBytes - 1);
}

}  // namespace

Status OpenFile::fallocate(int64_t offset, int64_t size) {
  // The lock is held, so that no hole is filled before it counts as allocated.
  MutexLock writer(write_mutex_);
  GM_TRY(check_change(offset, static_cast<uint64_t>(std::max<int64_t>(size, 0))));
  const int64_t begin = block_from(offset);
  const int64_t end = block_to(offset + size);
  MutexLock lock(mutex_);
  AllocatedRanges ranges = allocated_;
  if (!ranges.add(begin, end)) return {};
  GM_TRY(remove_stored(begin / chunk_bytes_, chunk_count(std::min(end, length_)), ranges));
  if (ranges == allocated_) return {};
  allocated_ = std::move(ranges);
  allocated_changed_ = true;
  list_as_dirty();
  return {};
}

Status OpenFile::remove_stored(int64_t first, int64_t last, AllocatedRanges& ranges) {
  const auto remove = [this, &ranges, length = length_](int64_t from, int64_t to) {
    ranges.remove(from * chunk_bytes_, std::min(to * chunk_bytes_, length));
  };
  if (!holes_unknown_) {
    for (int64_t n = holes_.end_of_run(first); n < last;) {
      const int64_t hole = std::min(holes_.next_run(n), last);
      remove(n, hole);
      n = holes_.end_of_run(hole);
    }
    return {};
  }
  for (const Chunks* const chunks : {&dirty_, &frozen_}) {
    for (auto chunk = chunks->lower_bound(first); chunk != chunks->end(); ++chunk) {
      const int64_t n = chunk->first;
      if (n >= last || (chunks == &frozen_ && n >= frozen_end_)) break;
      remove(n, n + 1);
    }
  }
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context_->bucket.store().snapshot());
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            chunks_by_number(context_->bucket.chunks(), *snapshot, id_, first,
                             std::min(last, store_end_)));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return {};
    const std::optional<int64_t> n = (*document)["n"].integral();
    if (n) remove(*n, *n + 1);
  }
}

void OpenFile::record_stored(int64_t n) {
  if (allocated_.empty() || holes_.contains(n)) return;
  const int64_t begin = n * chunk_bytes_;
  if (allocated_.remove(begin, std::min(begin + chunk_bytes_, length_))) allocated_changed_ = true;
}

void OpenFile::record_zeroed(int64_t offset, int64_t end) {
  // A block counts as zeroed only if it lies wholly in the range. The last block of the file lies
  // in the range if the range reaches the end of the file.
  const int64_t to = end == length_ ? block_to(end) : block_from(end);
  if (!allocated_.remove(block_to(offset), to)) return;
  allocated_changed_ = true;
  list_as_dirty();
}

void OpenFile::record_cut() {
  if (allocated_.cut(block_to(length_))) allocated_changed_ = true;
  if (length_ % chunk_bytes_ != 0) record_stored(length_ / chunk_bytes_);
}

}  // namespace gridmount::gridfs
