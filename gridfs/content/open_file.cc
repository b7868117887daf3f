#include "gridfs/content/open_file.h"

#include <algorithm>

#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/posix_changes.h"
#include "gridfs/bucket/stored_chunks.h"
#include "gridfs/content/commit_lock.h"

namespace gridmount::gridfs {
namespace {

std::unique_ptr<CachedChunks> cached_chunks(const FileContext& context,
                                            const FilesDocument& stored) {
  if (!context.options.chunk_cache) return nullptr;
  return std::make_unique<CachedChunks>(context.options.chunk_cache, context.bucket, stored.id,
                                        stored.chunk_bytes);
}

}  // namespace

OpenFile::OpenFile(std::shared_ptr<FileContext> context, FilesDocument stored, bool is_new)
    : context_(std::move(context)),
      id_(stored.id),
      chunk_bytes_(stored.chunk_bytes),
      layout_(id_, stored.chunk_bytes),
      cache_(cached_chunks(*context_, stored)),
      length_(stored.length),
      posix_(stored.posix),
      allocated_(stored.allocated),
      store_end_(stored.chunk_count()),
      holes_unknown_(stored.sparse),
      stored_(std::move(stored)),
      may_have_garbage_(!is_new && !context_->bucket.store().capabilities().exclusive),
      md5_intact_(context_->options.md5 && stored_.length == 0),
      confirmed_at_(Clock::now()),
      changed_at_(Clock::now() - std::chrono::hours(1)) {}

OpenFile::~OpenFile() {
  context_->open_files.closed(this, id_);
  if (detached_) context_->background_work.reclaim(id_);
}

void OpenFile::keep_first_chunk(ChunkCache::Content content) {
  MutexLock lock(mutex_);
  if (cache_) cache_->keep(version_, 0, std::move(content));
}

int64_t OpenFile::length() const {
  MutexLock lock(mutex_);
  return length_;
}

FilesDocument OpenFile::document() const {
  MutexLock lock(mutex_);
  FilesDocument document = stored_;
  document.length = length_;
  document.posix = posix_;
  document.allocated = allocated_;
  document.sparse = holes_unknown_ || !holes_.empty();
  document.stored_chunks = document.sparse ? estimated_chunks() : std::nullopt;
  if (content_changed_) {
    document.upload_date = std::max(bson::Date::now(), stored_.upload_date);
    document.md5.reset();
  }
  return document;
}

std::optional<CachedContent> OpenFile::known_content() const {
  if (!cache_ || !cache_->has_disk() || has_changes() || outdated_) return std::nullopt;
  return CachedContent{stored_.upload_date, stored_.length, posix_.mtime, confirmed_at_};
}

bool OpenFile::needs_confirmation() const {
  if (!cache_ || !cache_->has_disk()) return false;
  MutexLock lock(mutex_);
  return !has_changes() && !detached_ && !gone_ &&
         Clock::now() - confirmed_at_ >= cache_->fresh_for();
}

const OpenFile::Chunk* OpenFile::find_in_memory(int64_t n) const {
  if (const auto found = dirty_.find(n); found != dirty_.end()) return &found->second;
  if (n >= frozen_end_) return nullptr;
  const auto found = frozen_.find(n);
  return found == frozen_.end() ? nullptr : &found->second;
}

Result<const OpenFile::Chunk*> OpenFile::find_whole(int64_t n) {
  // This object owns the chunks, so it may change them.
  auto* const chunk = const_cast<Chunk*>(find_in_memory(n));
  if (chunk != nullptr) GM_TRY(load_rest(n, *chunk));
  return static_cast<const Chunk*>(chunk);
}

Result<ReadResult> OpenFile::read_once(int64_t offset, size_t size) {
  if (offset < 0) {
    return fail(ErrorCode::kBadValue,
                "reading the file with _id " + bson::to_json(id_, bson::JsonForm::kRelaxed) +
                    ": the offset " + std::to_string(offset) + " is negative");
  }
  FileReader reader;
  ReadAhead::Advice advice;
  int64_t stored_length = 0;
  uint64_t version = 0;
  std::optional<CachedContent> known;
  if (needs_confirmation()) (void)context_->open_files.refresh(*this);
  {
    MutexLock lock(mutex_);
    if (offset >= length_ || size == 0) return ReadResult();
    size = static_cast<size_t>(std::min<uint64_t>(size, static_cast<uint64_t>(length_ - offset)));
    advice = read_ahead_.record_read(offset, static_cast<int64_t>(size));
    advice.end = std::min(advice.end, length_);
    const int64_t end = offset + static_cast<int64_t>(size);
    for (int64_t at = offset; at < end;) {
      const int64_t n = at / chunk_bytes_;
      const int64_t chunk_begin = n * chunk_bytes_;
      const auto from = static_cast<uint32_t>(at - chunk_begin);
      auto to = static_cast<uint32_t>(std::min(end - chunk_begin, chunk_bytes_));
      GM_ASSIGN(const Chunk* const chunk, find_whole(n));
      if (chunk != nullptr) {
        const uint32_t content_end = std::clamp(chunk->size, from, to);
        if (content_end > from) {
          reader.add_memory(chunk->buffer, {content_of(*chunk) + from, content_end - from});
        }
        reader.add_zeros(to - content_end);
      } else if (const int64_t hole_end = holes_.end_of_run(n); hole_end != n) {
        const int64_t zeros_end = std::min(end, hole_end * chunk_bytes_);
        reader.add_zeros(static_cast<uint64_t>(zeros_end - at));
        at = zeros_end;
        continue;
      } else {
        // The checksum is verified if the whole chunk is read. It is also verified if a sequential
        // read begins at the beginning of the chunk, because later reads then read the rest.
        // Neither case reads a page that would not be read anyway.
        const bool whole = from == 0 && to == bytes_of_chunk(n, length_, chunk_bytes_);
        const bool verify = whole || (advice.sequential && from == 0);
        reader.add_stored(
            {n, from, to,
             verify ? StoredChunks::Verify::kChecksum : StoredChunks::Verify::kNothing});
      }
      at = chunk_begin + to;
    }
    if (cache_) {
      // Each read of a store over a network shows the newest contents, so a snapshot would not help
      // (Capabilities::stable_snapshots).
      reader.set_source({nullptr, stored_.length, holes_unknown_ || punching_, cache_.get(),
                         version_, known_content(), chunk_bytes_});
      known = reader.source().known;
      stored_length = stored_.length;
      version = version_;
    } else if (reader.needs_store() || advice.begin < advice.end) {
      // The snapshot is taken under the lock, so that it belongs to the same moment as the chunks
      // found in memory. Taking a snapshot waits for short transactions only.
      engine::Store& store = context_->bucket.store();
      auto snapshot = store.snapshot();
      const bool is_short = !snapshot;
      // While the store cannot write, it may have commits that only short snapshots show.
      if (is_short) snapshot = store.short_snapshot();
      if (!snapshot) return fail(std::move(snapshot).error());
      FileReader::Source source{*std::move(snapshot), stored_.length, holes_unknown_ || punching_};
      source.is_short = is_short;
      reader.set_source(std::move(source));
    }
  }
  StoredChunks chunks(context_->bucket.chunks(), id_, static_cast<int32_t>(chunk_bytes_));
  if (cache_) {
    cache_->record_read(version, known, offset, offset + static_cast<int64_t>(size), stored_length);
  } else if (advice.begin < advice.end) {
    chunks.prefetch(*reader.source().snapshot, chunk_count(advice.begin), chunk_count(advice.end));
  }
  return std::move(reader).finish(chunks, context_->bucket, id_);
}

Status OpenFile::set_posix(const PosixFields& changes) {
  // The commit lock is held, so that no commit restores the earlier times.
  CommitLock commit_lock(*this);
  if (is_stale_time_writeback(changes, document().posix)) return {};
  if (Status written = write_posix(*context_, id_, changes); !written) {
    return fail(as_deleted(std::move(written).error()));
  }
  MutexLock lock(mutex_);
  // set_times() does not take the commit lock. The next commit writes the times that it has set.
  if (is_stale_time_writeback(changes, posix_)) return {};
  merge_posix_fields(posix_, changes);
  return {};
}

Status OpenFile::change_posix(const PosixChange& change) {
  CommitLock commit_lock(*this);
  const Result<PosixFields> changes = gridfs::change_posix(*context_, id_, change);
  if (!changes) return fail(as_deleted(changes.error()));
  MutexLock lock(mutex_);
  merge_posix_fields(posix_, *changes);
  return {};
}

Status OpenFile::flush() {
  Status committed = commit(CommitKind::kFlush);
  MutexLock lock(mutex_);
  const std::optional<Error> earlier = std::exchange(background_error_, std::nullopt);
  if (!committed) return committed;
  if (earlier) return fail(*earlier);
  return {};
}

Status OpenFile::fsync() {
  GM_TRY(flush());
  return context_->bucket.store().make_durable();
}

void OpenFile::set_detached(bool detached) {
  MutexLock lock(mutex_);
  detached_ = detached;
  // If nobody has the file open, it should be removed at once.
  if (detached && listed_) context_->writeback.hurry(this);
  // Nobody had the file open, so the Writeback may have forgotten its changes. Now it has a name.
  if (!detached && has_changes()) list_as_dirty();
}

bool OpenFile::is_detached() const {
  MutexLock lock(mutex_);
  return detached_;
}

std::shared_ptr<OpenFile> OpenFile::unlist_if_unused() {
  MutexLock lock(mutex_);
  if (!detached_ || !listed_) return nullptr;
  std::shared_ptr<OpenFile> reference = context_->writeback.remove_if_unused(this);
  if (reference) listed_ = false;
  return reference;
}

bool OpenFile::quiet_for(std::chrono::milliseconds duration) const {
  MutexLock lock(mutex_);
  return !committing_ && !content_changed_ && Clock::now() - changed_at_ >= duration;
}

void OpenFile::md5_was_set(bson::Date upload_date, const std::string& md5) {
  MutexLock lock(mutex_);
  if (stored_.upload_date == upload_date) stored_.md5 = md5;
}

}  // namespace gridmount::gridfs
