// The state of an open file: what is in memory, what is in the store, and what the next commit
// writes.
//
// Chunk n of the file (0 <= n < the number of chunks of length_) is in the first of these that has
// it:
// - dirty_: the chunk was written since the last commit began.
// - frozen_, if n < frozen_end_: the commit in progress writes the chunk.
// - holes_: the chunk is a hole.
// - the store, if n < store_end_. If the store does not have the chunk and holes_unknown_ is set,
//   the chunk is a hole.
//
// A chunk in memory may have only the blocks that were written, if they are blocks of a full chunk
// in a store that can overwrite them (Chunk::is_partial). The rest of the chunk is read when it is
// needed. While an md5 is computed from the written bytes, all chunks in memory are whole.
//
// Before the file grows past its last chunk, that chunk is loaded and made dirty, so that the
// commit pads it to a full chunk.
//
// Thread-safe. Lock order: file_context.h.
#pragma once

#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/thread_safety.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/content/changed_blocks.h"
#include "gridfs/content/chunk_cache.h"
#include "gridfs/content/file_commit.h"
#include "gridfs/content/file_context.h"
#include "gridfs/content/file_reader.h"
#include "gridfs/content/holes.h"
#include "gridfs/content/read_ahead.h"
#include "gridfs/content/written_range.h"

namespace gridmount::gridfs {

class OpenFile final : public File, public std::enable_shared_from_this<OpenFile> {
 public:
  // `stored` is the files document in the store. `is_new` is true if no other process has ever seen
  // the document. The caller holds the lock of OpenFiles, or no other thread knows the file yet.
  OpenFile(std::shared_ptr<FileContext> context, FilesDocument stored, bool is_new = false);
  ~OpenFile() override;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const bson::Value& id() const override { return id_; }
  int64_t length() const override GM_EXCLUDES(mutex_);
  FilesDocument document() const override GM_EXCLUDES(mutex_);
  Result<ReadResult> read(int64_t offset, size_t size) override {
    return with_retry(context_->bucket.store(), [&] { return read_once(offset, size); });
  }
  Status write(int64_t offset, std::span<const uint8_t> data, TimeUpdate times) override {
    return with_retry(context_->bucket.store(), [&] { return write_once(offset, data, times); });
  }
  Status truncate(int64_t length, TimeUpdate times) override GM_EXCLUDES(write_mutex_, mutex_);
  Status zero(int64_t offset, int64_t size, TimeUpdate times) override
      GM_EXCLUDES(write_mutex_, mutex_);
  Status fallocate(int64_t offset, int64_t size) override GM_EXCLUDES(write_mutex_, mutex_);
  Result<std::optional<int64_t>> next_data(int64_t offset) override GM_EXCLUDES(mutex_);
  Result<std::optional<int64_t>> next_hole(int64_t offset) override GM_EXCLUDES(mutex_);
  void set_times(const timespec& mtime, const timespec& ctime) override GM_EXCLUDES(mutex_);
  Status set_posix(const PosixFields& changes) override GM_EXCLUDES(mutex_);
  Status change_posix(const PosixChange& change) override GM_EXCLUDES(mutex_);
  Status flush() override GM_EXCLUDES(mutex_);
  Status fsync() override GM_EXCLUDES(mutex_);
  Status expect_room() override GM_EXCLUDES(mutex_);

  // Commits the dirty chunks, without md5. An error is also kept for the next flush().
  Status commit_in_background() GM_EXCLUDES(mutex_);
  // Commits dirty chunks and the file's md5. If only the md5 is missing, commits it if it is cheap
  // to compute.
  Status commit_with_md5() GM_EXCLUDES(mutex_) { return commit(CommitKind::kFlush); }
  // Must be called when the files document has been moved to `detached` or back to `files`.
  void set_detached(bool detached) GM_EXCLUDES(mutex_);
  bool is_detached() const GM_EXCLUDES(mutex_);
  // Makes the Writeback release the file. Returns the Writeback's reference, or null if it had
  // none.
  std::shared_ptr<OpenFile> unlist() GM_EXCLUDES(mutex_);

  // Adds the content of the first chunk to the cache. The chunk must have been read after the files
  // document with which the file was opened. Must be called before other threads have the file.
  void keep_first_chunk(ChunkCache::Content content);
  // Used for a store that other processes change. `stored` is the files document that was just
  // read. If the file has no uncommitted changes and nobody is writing to it, it adopts the
  // document's content and fields.
  void refresh(const FilesDocument& stored) GM_EXCLUDES(write_mutex_, mutex_);

  // Returns true if nothing is dirty and nothing has changed for `duration`.
  bool quiet_for(std::chrono::milliseconds duration) const GM_EXCLUDES(mutex_);
  // Must be called when the files document with this uploadDate has got this md5 in the store.
  void md5_was_set(bson::Date upload_date, const std::string& md5) GM_EXCLUDES(mutex_);

 private:
  // Returns the content that the store has, if chunks may come from a disk and that content is
  // known.
  std::optional<CachedContent> known_content() const GM_REQUIRES(mutex_);
  // Returns true if the files document must be read again before chunks may come from the disk.
  bool needs_confirmation() const GM_EXCLUDES(mutex_);
  Result<ReadResult> read_once(int64_t offset, size_t size) GM_EXCLUDES(write_mutex_, mutex_);
  Status write_once(int64_t offset, std::span<const uint8_t> data, TimeUpdate times)
      GM_EXCLUDES(write_mutex_, mutex_);

  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  // The maximum number of hole runs kept in memory. Beyond it, holes are looked up in the store.
  static constexpr size_t kHoleRunsMax = 10'000;

  struct Chunk {
    std::shared_ptr<ChunkBuffer> buffer;
    uint32_t size = 0;                 // bytes of content; zeros follow up to the file's length
    std::optional<bson::ObjectId> id;  // of the chunk document, if known
    WrittenRange written;
    ChangedBlocks changed;  // the blocks that differ from those of the stored chunk
    // The buffer has only the blocks in `changed`. load_rest() reads the rest of the chunk from the
    // store. The buffer is not pinned before that.
    bool is_partial = false;
  };
  using Chunks = std::map<int64_t, Chunk>;

  // The present content of a chunk that is about to be written to.
  struct Base {
    enum class Kind { kMemory, kStore, kNothing };
    Kind kind = Kind::kNothing;
    Chunk memory;  // kMemory: its buffer is pinned by `pin`
    ChunkPin pin;
    std::unique_ptr<engine::Snapshot> snapshot;
    int64_t stored_length = 0;  // the file's length in the store
    bool absent_is_hole = false;
    uint32_t size = 0;  // bytes of the chunk that are content now
  };

  enum class CommitKind { kBackground, kFlush };
  class CommitLock;
  // A commit in progress.
  struct Prepared {
    FileCommit commit;
    bool content = false;
    bool times = false;
    bool allocated = false;
    std::shared_ptr<HashStream> md5;
    std::shared_ptr<HashStream::Mark> mark;
    std::shared_ptr<OpenFile> listed;  // released without the lock
  };

  // Returns a name of the file for messages.
  std::string described() const;
  uint8_t* content_of(const Chunk& chunk) const {
    return chunk.buffer->bytes() + layout_.header_bytes();
  }
  int64_t chunk_count(int64_t length) const {
    return length / chunk_bytes_ + (length % chunk_bytes_ != 0 ? 1 : 0);
  }

  // --- Writing (open_file_write.cc). write_mutex_ keeps chunks from becoming dirty between a check
  // and the change that follows it.
  Status check_change(int64_t offset, uint64_t size) const GM_EXCLUDES(mutex_);
  // Makes chunk `n` dirty and puts `data` there at `from`.
  Status change_chunk(int64_t n, uint32_t from, std::span<const uint8_t> data, TimeUpdate times)
      GM_REQUIRES(write_mutex_) GM_EXCLUDES(mutex_);
  // Returns the dirty chunk if it may be written in place from `from` on, or null.
  Chunk* chunk_in_place(int64_t n, uint32_t from) GM_REQUIRES(mutex_);
  Result<Base> find_base(int64_t n) GM_REQUIRES(mutex_);
  // Makes chunk `n` dirty without reading it, and puts `data` there at `from`. Returns false, and
  // changes nothing, unless `data` is whole blocks of a full chunk that the store has and can
  // overwrite in part. `buffer` is for the chunk.
  Result<bool> put_partial(int64_t n, const std::shared_ptr<ChunkBuffer>& buffer, uint32_t from,
                           std::span<const uint8_t> data) GM_REQUIRES(mutex_);
  // Reads the rest of a chunk from the store if `is_partial` is set.
  Status load_rest(int64_t n, Chunk& chunk) GM_REQUIRES(mutex_);
  // Copies the content of `base` into the chunk, except for the bytes [from, to), which the caller
  // writes.
  Status fill(Chunk& chunk, int64_t n, const Base& base, uint32_t from, uint32_t to) const;
  void put(int64_t n, Chunk& chunk, uint32_t from, std::span<const uint8_t> data)
      GM_REQUIRES(mutex_);
  // Returns the memory that dirty chunks occupy.
  uint64_t dirty_bytes() const GM_REQUIRES(mutex_) { return dirty_.size() * layout_.capacity(); }
  // While the disk is full, a file may have FileTableOptions::commit_bytes of dirty chunks,
  // together with those of a commit in progress. Beyond that, each write first tries to commit, and
  // fails if it cannot.
  Status check_room() GM_EXCLUDES(mutex_);
  // If the last commit met a full disk, tries again, provided that there may be room now. Otherwise
  // fails with the error of that commit.
  Status commit_once_more() GM_EXCLUDES(mutex_);
  // Returns a buffer for one chunk. Waits while the budget is spent.
  Result<std::shared_ptr<ChunkBuffer>> acquire_buffer() GM_EXCLUDES(mutex_);
  // Returns true if chunk `n` is after the file's last chunk, and the last chunk is short, not
  // dirty, and no known hole. A commit pads only dirty chunks, so the last chunk must be dirty when
  // the file grows.
  bool needs_padding(int64_t n) const GM_REQUIRES(mutex_);
  // Makes the last chunk dirty if needs_padding(n).
  Status pad_tail(int64_t n) GM_REQUIRES(write_mutex_) GM_EXCLUDES(mutex_);
  // Truncates the file. Returns false if the chunk at the new end must be made dirty first.
  bool try_cut(int64_t length, int64_t tail, uint32_t tail_bytes, TimeUpdate times)
      GM_EXCLUDES(mutex_);
  void record_change(TimeUpdate times) GM_REQUIRES(mutex_);
  void record_times(TimeUpdate times) GM_REQUIRES(mutex_);
  void list_as_dirty() GM_REQUIRES(mutex_);

  // --- Making holes (open_file_holes.cc).
  Status write_zeros(int64_t offset, int64_t end, TimeUpdate times) GM_REQUIRES(write_mutex_)
      GM_EXCLUDES(mutex_);
  // Makes the chunks [first, last) a hole in the store. The caller ensures that none of them is
  // dirty or becomes dirty.
  Status punch(int64_t first, int64_t last, TimeUpdate times) GM_REQUIRES(write_mutex_)
      GM_EXCLUDES(mutex_);
  // Returns how many chunks the store would have if the file were committed now. Where holes are
  // not known, every uncommitted chunk counts as new, although it may replace a stored one.
  std::optional<int64_t> estimated_chunks() const GM_REQUIRES(mutex_);

  // --- Allocated ranges (open_file_allocation.cc).
  //
  // Removes from `ranges` what is stored, or will be stored by the next commit.
  Status remove_stored(int64_t first, int64_t last, AllocatedRanges& ranges) GM_REQUIRES(mutex_);
  // Must be called when the next commit will store chunk `n`. Does nothing if the chunk is a hole.
  void record_stored(int64_t n) GM_REQUIRES(mutex_);
  void record_zeroed(int64_t offset, int64_t end) GM_REQUIRES(mutex_);
  // Must be called after the file was truncated to length_.
  void record_cut() GM_REQUIRES(mutex_);

  // --- Finding holes (open_file_seek.cc).
  //
  // The content of a chunk that is no hole. Bytes after it, up to the end of the chunk, are zeros.
  struct Content {
    std::span<const uint8_t> bytes;
    std::unique_ptr<engine::Snapshot> snapshot;
  };
  Result<Content> find_content(int64_t n) GM_REQUIRES(mutex_);
  // Returns the first chunk at or after `n` that is in memory or in the store, or `end`.
  Result<int64_t> next_chunk(int64_t n, int64_t end) GM_REQUIRES(mutex_);
  // Returns the first chunk at or after `n` that is a hole, or the number of chunks.
  Result<int64_t> next_hole_chunk(int64_t n) GM_REQUIRES(mutex_);
  // Also returns true for chunks before the beginning and after the end of the file.
  Result<bool> is_hole(int64_t n) GM_REQUIRES(mutex_);
  // If holes are not known, looks chunk `n` up in the store. If it is a hole, holes_ has it on
  // return.
  Status look_for_hole(int64_t n) GM_REQUIRES(mutex_);
  // Returns true if chunk `n`, which is no hole, is next to a hole.
  Result<bool> is_edge(int64_t n) GM_REQUIRES(mutex_);
  // Returns the first byte of chunk `n` at or after `offset` that is in a block of zeros, or, if
  // `of_zeros` is false, in a block that has other bytes.
  Result<std::optional<int64_t>> next_block(int64_t n, int64_t offset, bool of_zeros)
      GM_REQUIRES(mutex_);

  // --- md5 (open_file_md5.cc).
  void break_md5() GM_REQUIRES(mutex_);
  void restart_md5() GM_REQUIRES(mutex_);
  // Submits the chunks that are complete.
  void advance_md5() GM_REQUIRES(mutex_);
  // Submits all remaining content. Returns false if that would cost too much.
  bool complete_md5() GM_REQUIRES(mutex_);
  void submit_md5(const Chunk& chunk, uint32_t from, uint32_t to, HashStream::When when)
      GM_REQUIRES(mutex_);
  void submit_stored_md5(int64_t n, uint32_t from, uint32_t to) GM_REQUIRES(mutex_);
  const Chunk* find_in_memory(int64_t n) const GM_REQUIRES(mutex_);
  // Like find_in_memory(), and calls load_rest().
  Result<const Chunk*> find_whole(int64_t n) GM_REQUIRES(mutex_);

  // --- Committing (open_file_commit.cc).
  // Implements refresh().
  void adopt(const FilesDocument& stored) GM_REQUIRES(write_mutex_) GM_EXCLUDES(mutex_);
  Status commit(CommitKind kind) GM_EXCLUDES(mutex_);
  // Returns the error of a commit for which the caller has waited since `begun`, if the commit
  // found no server. The caller then fails too, because it has waited long enough for a server.
  // Returns nothing if the caller should try to commit too.
  std::optional<Error> failed_meanwhile(Clock::time_point begun) const GM_EXCLUDES(mutex_);
  // The work of commit(). If it throws, the caller must undo what is prepared.
  Status commit_prepared(CommitKind kind, Prepared& prepared) GM_EXCLUDES(mutex_);
  // Each commit of content has its own uploadDate. So (_id, uploadDate) identifies one content.
  bson::Date next_upload_date() const GM_REQUIRES(mutex_) {
    return std::max(bson::Date::now(), bson::Date{stored_.upload_date.milliseconds + 1});
  }
  bool prepare(CommitKind kind, Prepared& prepared) GM_REQUIRES(mutex_);
  Status write_to_store(FileCommit& commit) GM_EXCLUDES(mutex_);
  // Turns the error FileNotFound for this file into FileDeleted.
  Error as_deleted(Error error) const;
  void prepare_chunks(FileCommit& commit) GM_REQUIRES(mutex_);
  void finish(const Prepared& prepared) GM_REQUIRES(mutex_);
  // Returns how many of the file's chunks the store has, if that is known.
  std::optional<int64_t> chunks_in_store() const GM_REQUIRES(mutex_);
  void record_holes(const FileCommit& commit) GM_REQUIRES(mutex_);
  // Must be called after the content has changed in the store. `has_own_date` is true if uploadDate
  // became a later one.
  void reschedule_md5(bool has_own_date) GM_REQUIRES(mutex_);
  void undo(Prepared& prepared, const Error& error) GM_REQUIRES(mutex_);
  // Drops all uncommitted changes. Called when another process has changed the content, so that our
  // changes can no longer be committed.
  void drop_changes() GM_REQUIRES(mutex_);
  // Returns false if the ctime of `posix` is earlier than ours, so that the fields were read before
  // this process changed them.
  bool is_current(const PosixFields& posix) const GM_REQUIRES(mutex_);
  // Returns true if anything is not committed, or is being committed.
  bool has_changes() const GM_REQUIRES(mutex_);

  const std::shared_ptr<FileContext> context_;
  const bson::Value id_;
  const int64_t chunk_bytes_;
  const ChunkLayout layout_;
  const std::unique_ptr<CachedChunks> cache_;  // null for a local store

  Mutex write_mutex_{LockUse::kHeldOverReads};
  mutable Mutex mutex_{LockUse::kHeldOverReads};
  Condition commit_ended_;

  // The state that a commit would write now.
  int64_t length_ GM_GUARDED_BY(mutex_);
  PosixFields posix_ GM_GUARDED_BY(mutex_);
  bool content_changed_ GM_GUARDED_BY(mutex_) = false;
  bool times_changed_ GM_GUARDED_BY(mutex_) = false;
  // Within the length, covers only holes.
  AllocatedRanges allocated_ GM_GUARDED_BY(mutex_);
  bool allocated_changed_ GM_GUARDED_BY(mutex_) = false;
  Chunks dirty_ GM_GUARDED_BY(mutex_);
  Chunks frozen_ GM_GUARDED_BY(mutex_);
  int64_t frozen_end_ GM_GUARDED_BY(mutex_) = kNoLimit;
  int64_t store_end_ GM_GUARDED_BY(mutex_);  // truncation lowers it at once, commits raise it
  Holes holes_ GM_GUARDED_BY(mutex_);
  bool holes_unknown_ GM_GUARDED_BY(mutex_);
  bool listed_ GM_GUARDED_BY(mutex_) = false;  // the Writeback knows this file as dirty

  // The files document in the store, as far as this object has written it.
  FilesDocument stored_ GM_GUARDED_BY(mutex_);
  bool committing_ GM_GUARDED_BY(mutex_) = false;
  // punch() is removing stored chunks that holes_ does not have yet.
  bool punching_ GM_GUARDED_BY(mutex_) = false;
  std::optional<Error> background_error_ GM_GUARDED_BY(mutex_);
  // The error of the last commit, if the disk was full.
  std::optional<Error> no_room_ GM_GUARDED_BY(mutex_);
  // The error of the last commit, if no server answered it, and when that was.
  std::optional<Error> no_server_ GM_GUARDED_BY(mutex_);
  Clock::time_point no_server_at_ GM_GUARDED_BY(mutex_);
  std::optional<Error> gone_ GM_GUARDED_BY(mutex_);  // why the files document is gone
  bool detached_ GM_GUARDED_BY(mutex_) = false;
  bool outdated_ GM_GUARDED_BY(mutex_) = false;  // stored_ is not what the store has
  // Another process may have truncated the file to its present length, and not removed all chunks
  // yet.
  bool may_have_garbage_ GM_GUARDED_BY(mutex_);
  // The version of the stored content (chunk_cache.h, C1). Grows before and after each change that
  // this process makes, and when the process learns of a change by others.
  uint64_t version_ GM_GUARDED_BY(mutex_) = 0;

  // While md5_intact_, the bytes [0, md5_end_) have been submitted to md5_ and have not changed
  // since. md5_ is null while no bytes have been submitted.
  std::shared_ptr<HashStream> md5_ GM_GUARDED_BY(mutex_);
  int64_t md5_end_ GM_GUARDED_BY(mutex_) = 0;
  bool md5_intact_ GM_GUARDED_BY(mutex_);
  bool md5_scheduled_ GM_GUARDED_BY(mutex_) = false;

  // When this process last learned what the files document says of the content.
  Clock::time_point confirmed_at_ GM_GUARDED_BY(mutex_);
  Clock::time_point changed_at_ GM_GUARDED_BY(mutex_);
  ReadAhead read_ahead_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::gridfs
