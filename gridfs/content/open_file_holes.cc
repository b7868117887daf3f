// OpenFile: punching holes.

#include <algorithm>
#include <new>

#include "engine/bson/builder.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/zeros.h"
#include "gridfs/content/commit_lock.h"
#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {
Status OpenFile::zero(int64_t offset, int64_t size, TimeUpdate times) {
  MutexLock writer(write_mutex_);
  GM_TRY(check_change(offset, static_cast<uint64_t>(std::max<int64_t>(size, 0))));
  int64_t length = 0;
  {
    MutexLock lock(mutex_);
    length = length_;
    if (offset < length) record_zeroed(offset, std::min(offset + size, length));
  }
  const int64_t end = std::min(offset + size, length);
  if (offset >= end) return {};
  const int64_t first = chunk_count(offset);  // first whole chunk
  const int64_t last = end == length ? chunk_count(end) : end / chunk_bytes_;
  if (first >= last) return write_zeros(offset, end, times);
  GM_TRY(write_zeros(offset, std::min(first * chunk_bytes_, end), times));
  GM_TRY(write_zeros(std::max(last * chunk_bytes_, offset), end, times));
  // The chunks are removed in slices. Each slice is a commit of its own, because one commit must
  // not remove more. Everything that was written before is committed first.
  GM_TRY(commit(CommitKind::kBackground));
  const int64_t slice = chunks_removed_at_once(chunk_bytes_);
  for (int64_t n = first; n < last;) {
    GM_TRY(punch(n, std::min(n + slice, last), times));
    n += slice;
    // Skips to the next existing chunk, because a sparse file may have few chunks in a long range.
    MutexLock lock(mutex_);
    GM_ASSIGN(n, next_chunk(std::min(n, last), last));
  }
  return {};
}

Status OpenFile::write_zeros(int64_t offset, int64_t end, TimeUpdate times) {
  while (offset < end) {
    const int64_t n = offset / chunk_bytes_;
    const auto from = static_cast<uint32_t>(offset - n * chunk_bytes_);
    const int64_t part = std::min({end - offset, chunk_bytes_ - from, int64_t{kZeroBytes}});
    bool stays_hole = false;
    {
      MutexLock lock(mutex_);
      GM_TRY(look_for_hole(n));
      stays_hole = holes_.contains(n);
    }
    if (!stays_hole) {
      GM_TRY(change_chunk(n, from, zeros().first(static_cast<size_t>(part)), times));
    }
    offset += part;
  }
  return {};
}

Status OpenFile::punch(int64_t first, int64_t last, TimeUpdate times) {
  CommitLock commit_lock(*this);
  FileCommit commit;
  {
    MutexLock lock(mutex_);
    if (gone_) return fail(*gone_);
    // None of these chunks is dirty: everything was committed, and write_mutex_ has been held
    // since.
    const int64_t end = std::min(last, store_end_);
    if (first >= end || holes_.end_of_run(first) >= end) return {};
    commit.remove_from = first;
    commit.remove_to = end;
    commit.length = stored_.length;
    commit.upload_date = next_upload_date();
    if (stored_.chunk_size_is_too_large) commit.chunk_bytes = stored_.chunk_bytes;
    commit.sparse = true;
    commit.was_sparse = stored_.sparse;
    commit.stored_chunks = chunks_in_store();
    if (times == TimeUpdate::kNow) {
      commit.mtime = file_time_now();
      commit.ctime = commit.mtime;
    }
    punching_ = true;
    ++version_;
  }
  const auto write = [&]() -> Status {
    try {
      return write_to_store(commit);
    } catch (const std::bad_alloc&) {
      MutexLock lock(mutex_);
      punching_ = false;
      throw;
    }
  };
  const Status written = write();
  MutexLock lock(mutex_);
  punching_ = false;
  ++version_;
  if (!written) return written;
  holes_.add(first, commit.remove_to);
  record_holes(commit);
  const bool has_own_date = *commit.upload_date > stored_.upload_date;
  stored_.upload_date = *commit.upload_date;
  stored_.md5.reset();
  if (commit.mtime) posix_.mtime = posix_.ctime = commit.mtime;
  if (first * chunk_bytes_ < md5_end_) break_md5();
  if (holes_.runs() > kHoleRunsMax) {
    holes_unknown_ = true;
    holes_.clear();
  }
  reschedule_md5(has_own_date);
  return {};
}

std::optional<int64_t> OpenFile::estimated_chunks() const {
  const int64_t there_at_most = chunk_count(length_) - holes_.chunks();
  if (!holes_unknown_) return there_at_most;
  const std::optional<int64_t> stored = chunks_in_store();
  if (!stored) return std::nullopt;
  const auto unwritten = static_cast<int64_t>(dirty_.size() + frozen_.size());
  return std::min(std::min(*stored, store_end_) + unwritten, there_at_most);
}

}  // namespace gridmount::gridfs
