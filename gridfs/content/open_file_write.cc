// OpenFile: write and truncate.

#include <algorithm>
#include <cstring>

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/chunk_size.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/stored_chunks.h"
#include "gridfs/content/open_file.h"

namespace gridmount::gridfs {

Status OpenFile::check_change(int64_t offset, uint64_t size) const {
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    return fail(code, described() + ": " + why);
  };
  if (offset < 0) return refuse(ErrorCode::kBadValue, std::to_string(offset) + " is negative");
  int64_t bytes_max = max_file_bytes(static_cast<int32_t>(chunk_bytes_));
  // Somebody else has made chunks larger than a mount can make for this _id. The file cannot get
  // more chunks of that size.
  if (chunk_bytes_ > max_chunk_bytes(id_)) bytes_max = length();
  if (offset > bytes_max || size > static_cast<uint64_t>(bytes_max - offset)) {
    return refuse(kFileTooLarge, "with chunks of " + std::to_string(chunk_bytes_) +
                                     " bytes it can have at most " + std::to_string(bytes_max) +
                                     " bytes");
  }
  MutexLock lock(mutex_);
  if (gone_) return fail(*gone_);
  return {};
}

Status OpenFile::write_once(int64_t offset, std::span<const uint8_t> data, TimeUpdate times) {
  if (data.empty()) return {};
  MutexLock writer(write_mutex_);
  GM_TRY(check_change(offset, data.size()));
  GM_TRY(check_room());
  GM_TRY(pad_tail(offset / chunk_bytes_));
  while (!data.empty()) {
    const int64_t n = offset / chunk_bytes_;
    const auto from = static_cast<uint32_t>(offset - n * chunk_bytes_);
    const size_t part = std::min(data.size(), static_cast<size_t>(chunk_bytes_ - from));
    GM_TRY(change_chunk(n, from, data.first(part), times));
    data = data.subspan(part);
    offset += static_cast<int64_t>(part);
  }
  return {};
}

OpenFile::Chunk* OpenFile::chunk_in_place(int64_t n, uint32_t from) {
  const auto found = dirty_.find(n);
  if (found == dirty_.end()) return nullptr;
  Chunk& chunk = found->second;
  // The holder of a pin reads the bytes that were content when it pinned the buffer. The bytes
  // after them are free.
  return from >= chunk.size || !chunk.buffer->pinned() ? &chunk : nullptr;
}

Status OpenFile::change_chunk(int64_t n, uint32_t from, std::span<const uint8_t> data,
                              TimeUpdate times) {
  std::shared_ptr<ChunkBuffer> buffer;
  while (true) {
    Base base;
    {
      MutexLock lock(mutex_);
      if (Chunk* chunk = chunk_in_place(n, from)) {
        const auto to = static_cast<uint32_t>(from + data.size());
        if (chunk->is_partial && from == 0 && to >= chunk->size) {
          chunk->is_partial = false;
          chunk->changed = ChangedBlocks();
        }
        if (data.empty() || !chunk->changed.has_room_for(from, to)) GM_TRY(load_rest(n, *chunk));
        put(n, *chunk, from, data);
        record_change(times);
        return {};
      }
      if (buffer) {
        GM_ASSIGN(const bool is_put, put_partial(n, buffer, from, data));
        if (is_put) {
          record_change(times);
          return {};
        }
        GM_ASSIGN(base, find_base(n));
      }
    }
    if (!buffer) {
      // A commit may move the chunk while this thread waits, so everything is looked up again.
      GM_ASSIGN(buffer, acquire_buffer());
      continue;
    }
    // The chunk goes into a map of its own first. So the file is unchanged if memory runs out.
    Chunks changed;
    Chunk& chunk = changed[n];
    chunk.buffer = std::move(buffer);
    GM_TRY(fill(chunk, n, base, from, from + static_cast<uint32_t>(data.size())));
    {
      MutexLock lock(mutex_);
      if (!needs_padding(n)) {
        put(n, chunk, from, data);
        dirty_.erase(n);
        dirty_.merge(changed);
        record_change(times);
        return {};
      }
    }
    // While this thread waited, a commit stored the file's last chunk unpadded. The buffer is
    // released first, because a thread that waits for memory must not hold a buffer.
    chunk.buffer.reset();
    GM_TRY(pad_tail(n));
  }
}

Result<OpenFile::Base> OpenFile::find_base(int64_t n) {
  Base base;
  base.size = bytes_of_chunk(n, length_, chunk_bytes_);
  GM_ASSIGN(const Chunk* const chunk, find_whole(n));
  if (chunk != nullptr) {
    base.kind = Base::Kind::kMemory;
    base.memory = *chunk;
    base.pin = ChunkPin(chunk->buffer);
    base.size = std::min(base.size, chunk->size);
  } else if (n < store_end_ && n < chunk_count(length_) && !holes_.contains(n)) {
    base.kind = Base::Kind::kStore;
    GM_ASSIGN(base.snapshot, context_->bucket.store().snapshot());
    base.stored_length = stored_.length;
    base.absent_is_hole = holes_unknown_ || punching_;
  } else {
    base.size = 0;
  }
  return base;
}

Status OpenFile::fill(Chunk& chunk, int64_t n, const Base& base, uint32_t from, uint32_t to) const {
  uint8_t* const content = content_of(chunk);
  const uint32_t size = base.size;
  const auto copy = [&](const uint8_t* source) {
    if (from > 0) std::memcpy(content, source, std::min(from, size));
    if (to < size) std::memcpy(content + to, source + to, size - to);
  };
  chunk.size = size;
  chunk.written = WrittenRange(size);
  switch (base.kind) {
    case Base::Kind::kNothing:
      return {};
    case Base::Kind::kMemory:
      copy(content_of(base.memory));
      chunk.id = base.memory.id;
      chunk.written = base.memory.written;
      // The commit of the other chunk may fail, so its changes stay recorded.
      chunk.changed = base.memory.changed;
      return {};
    case Base::Kind::kStore:
      break;
  }
  if (from == 0 && to >= size) return {};
  StoredChunks chunks(context_->bucket.chunks(), id_, static_cast<int32_t>(chunk_bytes_));
  // The checksum is verified, because the content is about to get a new one.
  GM_ASSIGN(const std::optional<StoredChunks::Chunk> stored,
            chunks.find(*base.snapshot, n, base.stored_length, StoredChunks::Verify::kChecksum));
  if (!stored) {
    if (!base.absent_is_hole) return chunk_is_missing(id_, n);
    std::memset(content, 0, size);
    return {};
  }
  copy(stored->content.data());
  chunk.changed = ChangedBlocks(static_cast<uint32_t>(stored->content.size()));
  if (stored->id.type() == bson::Type::kObjectId) chunk.id = stored->id.as_object_id();
  return {};
}

Result<bool> OpenFile::put_partial(int64_t n, const std::shared_ptr<ChunkBuffer>& buffer,
                                   uint32_t from, std::span<const uint8_t> data) {
  const auto chunk_bytes = static_cast<uint32_t>(chunk_bytes_);
  const bool is_full = (n + 1) * chunk_bytes_ <= std::min(length_, stored_.length);
  const bool is_stored = n < store_end_ && !holes_unknown_ && !punching_ && !holes_.contains(n);
  Chunk chunk;
  chunk.changed = ChangedBlocks(chunk_bytes);
  if (data.empty() || data.size() == chunk_bytes || !is_full || !is_stored || md5_intact_ ||
      !context_->bucket.store().capabilities().exclusive ||
      !chunk.changed.has_room_for(from, from + static_cast<uint32_t>(data.size())) ||
      find_in_memory(n) != nullptr) {
    return false;
  }
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot,
              context_->bucket.store().short_snapshot());
    StoredChunks chunks(context_->bucket.chunks(), id_, static_cast<int32_t>(chunk_bytes_));
    GM_ASSIGN(const bool can_overwrite, chunks.can_overwrite(*snapshot, n, chunk_bytes));
    if (!can_overwrite) return false;
  }
  chunk.buffer = buffer;
  chunk.size = chunk_bytes;
  chunk.written = WrittenRange(chunk_bytes);
  chunk.is_partial = true;
  put(n, dirty_.insert_or_assign(n, std::move(chunk)).first->second, from, data);
  return true;
}

// No other thread uses the bytes that this function writes: a commit reads only the changed blocks.
Status OpenFile::load_rest(int64_t n, Chunk& chunk) {
  if (!chunk.is_partial) return {};
  GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot,
            context_->bucket.store().short_snapshot());
  StoredChunks chunks(context_->bucket.chunks(), id_, static_cast<int32_t>(chunk_bytes_));
  // The checksum is verified, because a commit may give the content a new one.
  GM_ASSIGN(const std::optional<StoredChunks::Chunk> stored,
            chunks.find_any(*snapshot, n, StoredChunks::Verify::kChecksum));
  if (!stored) {
    GM_TRY(context_->bucket.expect_file(*snapshot, id_));
    return chunk_is_missing(id_, n);
  }
  if (stored->content.size() != chunk.size) return chunk_is_wrong_size(id_, n);
  uint8_t* const content = content_of(chunk);
  uint32_t from = 0;
  const auto copy_until = [&](uint32_t to) {
    if (from < to) std::memcpy(content + from, stored->content.data() + from, to - from);
  };
  for (const ChangedBlocks::Range& range : chunk.changed.ranges(chunk.size)) {
    copy_until(range.from);
    from = range.to;
  }
  copy_until(chunk.size);
  chunk.is_partial = false;
  return {};
}

void OpenFile::put(int64_t n, Chunk& chunk, uint32_t from, std::span<const uint8_t> data) {
  if (data.empty()) return;
  uint8_t* const content = content_of(chunk);
  if (from > chunk.size) {
    std::memset(content + chunk.size, 0, from - chunk.size);
    chunk.changed.add(chunk.size, from);
  }
  // This is the only copy on the way to the store. It is made under the lock, so that a commit or a
  // read sees all of the piece or nothing.
  std::memcpy(content + from, data.data(), data.size());
  const auto to = static_cast<uint32_t>(from + data.size());
  chunk.size = std::max(chunk.size, to);
  chunk.written.add(from, to);
  chunk.changed.add(from, to);

  const int64_t begin = n * chunk_bytes_ + from;
  if (begin < md5_end_) break_md5();
  holes_.fill(n);
  const int64_t end = n * chunk_bytes_ + to;
  if (end > length_) {
    const int64_t tail = length_ / chunk_bytes_;
    holes_.add(chunk_count(length_), n);
    length_ = end;
    record_stored(tail);
  }
  record_stored(n);
}

Result<std::shared_ptr<ChunkBuffer>> OpenFile::acquire_buffer() {
  ChunkMemory& memory = *context_->memory;
  Writeback& writeback = context_->writeback;
  if (std::shared_ptr<ChunkBuffer> buffer = memory.try_acquire(layout_.capacity())) return buffer;
  const uint64_t failures = writeback.failures();
  while (true) {
    if (std::shared_ptr<ChunkBuffer> buffer = memory.try_acquire(layout_.capacity())) return buffer;
    if (!writeback.stopped()) {
      GM_TRY(writeback.wait_for_memory(failures));
      continue;
    }
    // The background commits have stopped. The only memory that can be freed is that of this file.
    GM_TRY(commit(CommitKind::kBackground));
    if (std::shared_ptr<ChunkBuffer> buffer = memory.try_acquire(layout_.capacity())) return buffer;
    return fail(ErrorCode::kOperationFailed,
                "the bucket '" + context_->bucket.options().name +
                    "' is being closed, and other files use all the memory for uncommitted data");
  }
}

bool OpenFile::needs_padding(int64_t n) const {
  const int64_t tail = length_ / chunk_bytes_;
  return length_ % chunk_bytes_ != 0 && n > tail && !holes_.contains(tail) &&
         !dirty_.contains(tail);
}

Status OpenFile::pad_tail(int64_t n) {
  int64_t tail = 0;
  uint32_t size = 0;
  {
    MutexLock lock(mutex_);
    if (!needs_padding(n)) return {};
    tail = length_ / chunk_bytes_;
    GM_TRY(look_for_hole(tail));
    if (holes_.contains(tail)) return {};
    size = static_cast<uint32_t>(length_ % chunk_bytes_);
  }
  return change_chunk(tail, size, {}, TimeUpdate::kKeep);
}

Status OpenFile::truncate(int64_t length, TimeUpdate times) {
  MutexLock writer(write_mutex_);
  GM_TRY(check_change(length, 0));
  int64_t before = 0;
  {
    MutexLock lock(mutex_);
    before = length_;
    if (length == before) {
      record_times(times);
      return {};
    }
  }
  while (length > before) {
    GM_TRY(pad_tail(kNoLimit));
    MutexLock lock(mutex_);
    // A commit may have stored the last chunk since pad_tail().
    if (needs_padding(kNoLimit)) continue;
    holes_.add(chunk_count(before), chunk_count(length));
    length_ = length;
    record_stored(before / chunk_bytes_);
    record_change(times);
    return {};
  }
  const int64_t tail = length / chunk_bytes_;
  const auto tail_bytes = static_cast<uint32_t>(length % chunk_bytes_);
  {
    MutexLock lock(mutex_);
    GM_TRY(look_for_hole(tail));
  }
  while (!try_cut(length, tail, tail_bytes, times)) {
    GM_TRY(change_chunk(tail, tail_bytes, {}, TimeUpdate::kKeep));
  }
  return {};
}

bool OpenFile::try_cut(int64_t length, int64_t tail, uint32_t tail_bytes, TimeUpdate times) {
  MutexLock lock(mutex_);
  if (tail_bytes != 0 && !holes_.contains(tail)) {
    // The chunk that the file will end in must be dirty, because the stored chunk is too long.
    Chunk* const chunk = chunk_in_place(tail, tail_bytes);
    if (chunk == nullptr || chunk->is_partial) return false;
    chunk->size = std::min(chunk->size, tail_bytes);
    chunk->written.cut(tail_bytes);
  }
  const int64_t end = chunk_count(length);
  dirty_.erase(dirty_.lower_bound(end), dirty_.end());
  frozen_end_ = std::min(frozen_end_, end);
  store_end_ = std::min(store_end_, end);
  holes_.cut(end);
  length_ = length;
  record_cut();
  if (length < md5_end_) break_md5();
  if (length == 0) {
    holes_unknown_ = false;
    restart_md5();
  }
  record_change(times);
  return true;
}

void OpenFile::record_times(TimeUpdate times) {
  if (times == TimeUpdate::kKeep) return;
  posix_.mtime = file_time_now();
  posix_.ctime = posix_.mtime;
  times_changed_ = true;
  list_as_dirty();
}

void OpenFile::set_times(const timespec& mtime, const timespec& ctime) {
  MutexLock lock(mutex_);
  posix_.mtime = mtime;
  posix_.ctime = ctime;
  times_changed_ = true;
  list_as_dirty();
}

void OpenFile::record_change(TimeUpdate times) {
  content_changed_ = true;
  changed_at_ = Clock::now();
  record_times(times);
  list_as_dirty();
  advance_md5();
  if (dirty_bytes() >= context_->options.commit_bytes) context_->writeback.hurry(this);
}

void OpenFile::list_as_dirty() {
  if (listed_) return;
  context_->writeback.add(shared_from_this());
  listed_ = true;
}

}  // namespace gridmount::gridfs
