// OpenFile: commits.

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "engine/base/invariant.h"
#include "engine/bson/json.h"
#include "engine/transient_error.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/error.h"
#include "gridfs/content/commit_lock.h"
#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {
namespace {

// The maximum number of dirty bytes that a writer may keep uncommitted while the disk may be full.
// It is not smaller, because each commit of a part of a chunk writes the whole chunk.
constexpr uint64_t kExpectedBytes = 1024 * 1024;

}  // namespace

Status OpenFile::commit_in_background() {
  Status committed;
  try {
    committed = commit(CommitKind::kBackground);
  } catch (const std::bad_alloc&) {
    committed = fail(ErrorCode::kOperationFailed, "there is not enough memory");
  }
  if (!committed) {
    MutexLock lock(mutex_);
    background_error_ = committed.error();
  }
  return committed;
}

Status OpenFile::commit(CommitKind kind) {
  const Clock::time_point begun = Clock::now();
  CommitLock commit_lock(*this);
  if (const std::optional<Error> failed = failed_meanwhile(begun)) return fail(*failed);
  Prepared prepared;
  try {
    return commit_prepared(kind, prepared);
  } catch (const std::bad_alloc&) {
    // The caller reports the error, and the file stays in use. So the uncommitted changes must not
    // be lost.
    MutexLock lock(mutex_);
    undo(prepared, Error(ErrorCode::kOperationFailed, "there is not enough memory"));
    throw;
  }
}

std::optional<Error> OpenFile::failed_meanwhile(Clock::time_point begun) const {
  const std::chrono::milliseconds patience = context_->bucket.store().capabilities().retry_for;
  MutexLock lock(mutex_);
  if (no_server_at_ < begun || Clock::now() - begun < patience / 2) return std::nullopt;
  return no_server_;
}

Status OpenFile::commit_prepared(CommitKind kind, Prepared& prepared) {
  {
    MutexLock lock(mutex_);
    if (!prepare(kind, prepared)) return {};
  }
  // The digest is computed before the transaction, so that no other writer waits for the hashing.
  if (prepared.mark) prepared.commit.md5 = prepared.md5->digest(*prepared.mark);
  prepared.commit.keep_md5 = !prepared.content && !prepared.commit.md5;
  Status written = write_to_store(prepared.commit);
  if (!written && written.error().code() == ErrorCode::kOutOfDiskSpace) {
    uint64_t bytes = 0;
    for (const CommittedChunk& chunk : prepared.commit.chunks) bytes += chunk.size;
    if (context_->make_room(bytes)) written = write_to_store(prepared.commit);
  }
  MutexLock lock(mutex_);
  no_server_.reset();
  if (written) {
    finish(prepared);
    return {};
  }
  undo(prepared, written.error());
  if (engine::is_unreachable(written.error())) {
    no_server_ = written.error();
    no_server_at_ = Clock::now();
  }
  // This commit had only the md5 of content that others have replaced. Its loss is no error.
  const bool loses_nothing = !prepared.content && !prepared.times && !prepared.allocated;
  if (loses_nothing && written.error().code() == kFileChanged) return {};
  return written;
}

Status OpenFile::expect_room() {
  bool is_much = false;
  {
    MutexLock lock(mutex_);
    is_much = dirty_bytes() >= kExpectedBytes;
  }
  GM_TRY(commit_once_more());
  return is_much ? commit(CommitKind::kBackground) : Status();
}

Status OpenFile::check_room() {
  {
    MutexLock lock(mutex_);
    // A commit that fails makes its chunks dirty again.
    const uint64_t bytes = (dirty_.size() + frozen_.size()) * layout_.capacity();
    if (!no_room_ || bytes < context_->options.commit_bytes) return {};
  }
  return commit_once_more();
}

Status OpenFile::commit_once_more() {
  std::optional<Error> refused;
  uint64_t bytes = 0;
  {
    MutexLock lock(mutex_);
    refused = no_room_;
    bytes = dirty_bytes();
  }
  if (!refused) return {};
  if (!context_->make_room(bytes)) return fail(*refused);
  return commit(CommitKind::kBackground);
}

Status OpenFile::write_to_store(FileCommit& commit) {
  Status written =
      write_commit(*context_, id_, layout_, static_cast<int32_t>(chunk_bytes_), commit);
  if (!written) return fail(as_deleted(std::move(written).error()));
  return {};
}

Error OpenFile::as_deleted(Error error) const {
  return error.code() == kFileNotFound ? file_deleted(context_->bucket, id_) : std::move(error);
}

bool OpenFile::prepare(CommitKind kind, Prepared& prepared) {
  if (std::exchange(listed_, false)) prepared.listed = context_->writeback.remove(this);
  if (gone_) return false;
  const bool wants_md5 = kind == CommitKind::kFlush && context_->options.md5 && !detached_ &&
                         (content_changed_ || (!stored_.md5 && md5_intact_));
  if (!content_changed_ && !times_changed_ && !allocated_changed_ && !wants_md5) return false;

  FileCommit& commit = prepared.commit;
  commit.stored_chunks = chunks_in_store();
  prepared.content = std::exchange(content_changed_, false);
  prepared.times = std::exchange(times_changed_, false);
  prepared.allocated = std::exchange(allocated_changed_, false);
  if (prepared.content) {
    ++version_;
    prepare_chunks(commit);
  }
  if (wants_md5 && complete_md5()) {
    prepared.md5 = md5_;
    prepared.mark = md5_->mark();
  }
  commit.length = length_;
  // Every commit writes the length, so it must not overwrite a commit of another process.
  if (!context_->bucket.store().capabilities().exclusive) {
    commit.expected_date = stored_.upload_date;
    commit.may_meet_garbage = may_have_garbage_;
  }
  if (prepared.content) {
    commit.upload_date = next_upload_date();
    if (stored_.chunk_size_is_too_large) commit.chunk_bytes = stored_.chunk_bytes;
  }
  commit.sparse = holes_unknown_ || !holes_.empty();
  commit.was_sparse = stored_.sparse;
  if (prepared.times) {
    commit.mtime = posix_.mtime;
    commit.ctime = posix_.ctime;
  }
  if (prepared.allocated) commit.allocated = allocated_;
  GM_INVARIANT("F1", prepared.content || dirty_.empty(), described());
  GM_INVARIANT("F2", frozen_.empty(), described());
  frozen_.swap(dirty_);
  frozen_end_ = kNoLimit;
  return true;
}

std::string OpenFile::described() const {
  return "the file with _id " + bson::to_json(id_, bson::JsonForm::kRelaxed);
}

void OpenFile::prepare_chunks(FileCommit& commit) {
  for (auto& [n, chunk] : dirty_) {
    const uint32_t size = bytes_of_chunk(n, length_, chunk_bytes_);
    if (chunk.size < size) {
      // The file has grown beyond this chunk. Nobody else uses these bytes, even if the buffer is
      // pinned.
      std::memset(content_of(chunk) + chunk.size, 0, size - chunk.size);
      chunk.changed.add(chunk.size, size);
      chunk.size = size;
    }
    commit.chunks.push_back(
        {n, chunk.buffer, size, n < store_end_, chunk.id, chunk.changed, chunk.is_partial});
  }
  commit.remove_from = store_end_;
  commit.remove_to = std::max(store_end_, stored_.chunk_count());
}

std::optional<int64_t> OpenFile::chunks_in_store() const {
  return stored_.sparse ? stored_.stored_chunks : stored_.chunk_count();
}

void OpenFile::record_holes(const FileCommit& commit) {
  stored_.sparse = commit.sparse;
  stored_.stored_chunks = commit.sparse ? commit.stored_chunks : std::nullopt;
}

void OpenFile::finish(const Prepared& prepared) {
  const FileCommit& commit = prepared.commit;
  no_room_.reset();
  if (prepared.content) ++version_;
  confirmed_at_ = Clock::now();
  // The data for which there was no room is in the store now.
  if (background_error_ && background_error_->code() == ErrorCode::kOutOfDiskSpace) {
    background_error_.reset();
  }
  stored_.length = commit.length;
  // A truncation by another process changes the uploadDate, and adopt() then sets this field again.
  may_have_garbage_ = false;
  record_holes(commit);
  const bool has_own_date = prepared.content && *commit.upload_date > stored_.upload_date;
  if (prepared.content) stored_.upload_date = *commit.upload_date;
  if (!commit.keep_md5) stored_.md5 = commit.md5;
  store_end_ = std::min(stored_.chunk_count(), frozen_end_);
  frozen_.clear();
  if (holes_.runs() > kHoleRunsMax && chunk_count(length_) == store_end_) {
    holes_unknown_ = true;
    holes_.clear();
  }
  if (commit.md5 && md5_scheduled_) {
    context_->background_work.cancel_md5(id_);
    md5_scheduled_ = false;
  } else if (prepared.content && !commit.md5) {
    reschedule_md5(has_own_date);
  }
}

void OpenFile::reschedule_md5(bool has_own_date) {
  if (!context_->options.md5 || detached_) return;
  // An earlier revision cannot always get a later date. Without one, an md5 of the new content
  // cannot be distinguished from one of the old content.
  if (has_own_date) {
    context_->background_work.schedule_md5(id_);
  } else {
    context_->background_work.cancel_md5(id_);
  }
  md5_scheduled_ = has_own_date;
}

void OpenFile::drop_changes() {
  ++version_;
  frozen_.clear();
  dirty_.clear();
  content_changed_ = false;
  times_changed_ = false;
  allocated_changed_ = false;
  // The next adopt() takes over the files document, whatever its uploadDate is.
  outdated_ = true;
}

bool OpenFile::has_changes() const {
  return !dirty_.empty() || !frozen_.empty() || committing_ || punching_ || content_changed_ ||
         times_changed_ || allocated_changed_;
}

bool OpenFile::is_current(const PosixFields& posix) const {
  if (!posix_.ctime || !posix.ctime) return true;
  return std::pair(posix.ctime->tv_sec, posix.ctime->tv_nsec) >=
         std::pair(posix_.ctime->tv_sec, posix_.ctime->tv_nsec);
}

void OpenFile::refresh(const FilesDocument& stored) {
  // A writer may have read a part of a chunk, and would write it into the new content. So while
  // somebody writes, the file keeps the old content, and the commit then fails.
  if (!write_mutex_.try_lock()) return;
  adopt(stored);
  write_mutex_.unlock();
}

void OpenFile::adopt(const FilesDocument& stored) {
  MutexLock lock(mutex_);
  if (gone_ || has_changes()) return;
  // A reader may have read the document before the last commit of this process.
  if (!outdated_ && stored.upload_date < stored_.upload_date) return;
  confirmed_at_ = Clock::now();
  if (outdated_ || is_current(stored.posix)) posix_ = stored.posix;
  const bool is_same =
      !outdated_ && stored.upload_date == stored_.upload_date && stored.length == stored_.length;
  if (is_same) return;
  if (stored.chunk_bytes != chunk_bytes_) {
    gone_ = file_deleted(context_->bucket, id_);
    return;
  }
  outdated_ = false;
  may_have_garbage_ = true;
  ++version_;
  length_ = stored.length;
  allocated_ = stored.allocated;
  store_end_ = stored.chunk_count();
  frozen_end_ = kNoLimit;
  holes_.clear();
  holes_unknown_ = stored.sparse;
  stored_ = stored;
  // The bytes that were hashed may have changed.
  break_md5();
}

void OpenFile::undo(Prepared& prepared, const Error& error) {
  // The transaction may have been committed, although no answer came.
  ++version_;
  if (error.code() == kFileDeleted) {
    // Somebody has deleted the file in the store. There is nothing left to write to.
    gone_ = error;
    frozen_.clear();
    dirty_.clear();
    return;
  }
  if (error.code() == kFileChanged) return drop_changes();
  if (error.code() == ErrorCode::kOutOfDiskSpace) no_room_ = error;
  if (stored_.sparse) stored_.stored_chunks = prepared.commit.stored_chunks;
  // The next commit must not truncate the file again.
  if (prepared.commit.cut_length) stored_.length = *prepared.commit.cut_length;
  // The date differs if the first of two transactions has succeeded.
  if (prepared.commit.expected_date) stored_.upload_date = *prepared.commit.expected_date;
  frozen_.erase(frozen_.lower_bound(std::min(frozen_end_, chunk_count(length_))), frozen_.end());
  // The caller reports the error. Without this chunk the next commit stores the others.
  if (prepared.commit.unwritable) frozen_.erase(*prepared.commit.unwritable);
  dirty_.merge(frozen_);  // allocates nothing, and keeps the newer ones
  frozen_.clear();
  content_changed_ = content_changed_ || prepared.content;
  times_changed_ = times_changed_ || prepared.times;
  allocated_changed_ = allocated_changed_ || prepared.allocated;
  if (!content_changed_ && !times_changed_ && !allocated_changed_) return;
  if (prepared.listed && !listed_) {
    // The list gets back the reference that it had. A second reference would count as a user's
    // (writeback.cc).
    context_->writeback.add(std::move(prepared.listed));
    listed_ = true;
  }
  list_as_dirty();
}

}  // namespace gridmount::gridfs
