// The state of an open file: what is in memory, what is in the store, and what the next commit
// writes.
//
// A file of length_ bytes has the chunks 0 to chunk_count(length_) - 1. The content of chunk n is
// in the first of these places that has the chunk:
// - dirty_: the chunk was written since the last commit began.
// - frozen_, if n < frozen_end_: the commit in progress writes the chunk.
// - holes_: the chunk is a hole.
// - the store, if n < store_end_. If the store does not have the chunk and holes_unknown_ is set,
//   the chunk is a hole.
//
// A chunk in memory may have only the blocks that were written (Chunk::is_partial). This is
// possible only if the stored chunk is full and the store can overwrite single blocks. OpenFile
// reads the rest of the chunk when something needs it. While an md5 is computed from the written
// bytes, all chunks in memory are whole.
//
// A commit pads only dirty chunks. So before the file grows past its last chunk, OpenFile loads
// that chunk and makes it dirty, and the commit pads it to a full chunk.
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
  // the document. The caller must hold the file's lock of OpenFiles::opening_, unless no other
  // thread can know the file yet.
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

  // Commits the uncommitted changes, without md5. If this fails, the next flush() fails too: with
  // the error of its own commit, or else with this one. But an error of a full disk no longer
  // counts once a later commit has succeeded, even that of flush() itself.
  Status commit_in_background() GM_EXCLUDES(mutex_);
  // Commits the uncommitted changes, and also the file's md5 if it is cheap to compute. Commits the
  // md5 even if there are no other changes.
  Status commit_with_md5() GM_EXCLUDES(mutex_) { return commit(CommitKind::kFlush); }
  // Must be called when the files document has been moved to `detached` or back to `files`.
  void set_detached(bool detached) GM_EXCLUDES(mutex_);
  bool is_detached() const GM_EXCLUDES(mutex_);
  // If the file is removed (is_detached()) and only the Writeback and the caller have it, makes the
  // Writeback forget the file, although it may be dirty, and returns the reference that the
  // Writeback had. Otherwise returns null.
  std::shared_ptr<OpenFile> unlist_if_unused() GM_EXCLUDES(mutex_);

  // Adds the content of the first chunk to the chunk cache. The chunk must have been read after the
  // files document that the constructor got. Must be called before other threads have the file.
  void keep_first_chunk(ChunkCache::Content content);
  // For a store that other processes change too. `stored` is the files document that was just read.
  // If this object has no uncommitted changes and no thread is writing to it, takes over the
  // content and the fields of that document. Otherwise does nothing.
  void refresh(const FilesDocument& stored) GM_EXCLUDES(write_mutex_, mutex_);

  // Returns true if the content has no uncommitted change, no commit is in progress, and the
  // content has not changed for `duration`.
  bool quiet_for(std::chrono::milliseconds duration) const GM_EXCLUDES(mutex_);
  // Must be called when the background work has written `md5` into the files document with the
  // uploadDate `upload_date`. Does nothing if the content has changed since.
  void md5_was_set(bson::Date upload_date, const std::string& md5) GM_EXCLUDES(mutex_);

 private:
  // Returns which content the store has, for the cache on disk (engine/disk_cache). Returns nothing
  // if there is no cache on disk, or if this object is not sure which content the store has.
  std::optional<CachedContent> known_content() const GM_REQUIRES(mutex_);
  // Returns true if the files document must be read again before chunks may come from the cache on
  // disk.
  bool needs_confirmation() const GM_EXCLUDES(mutex_);
  Result<ReadResult> read_once(int64_t offset, size_t size) GM_EXCLUDES(write_mutex_, mutex_);
  Status write_once(int64_t offset, std::span<const uint8_t> data, TimeUpdate times)
      GM_EXCLUDES(write_mutex_, mutex_);

  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  // The limit for the runs of holes in holes_. Beyond this limit, holes_unknown_ is set, and holes
  // are looked up in the store.
  static constexpr size_t kHoleRunsMax = 10'000;

  struct Chunk {
    std::shared_ptr<ChunkBuffer> buffer;
    uint32_t size = 0;                 // bytes of content; zeros follow up to the file's length
    std::optional<bson::ObjectId> id;  // the _id of the chunk document, if known
    WrittenRange written;
    ChangedBlocks changed;  // the blocks that differ from those of the stored chunk
    // True if the buffer has only the blocks in `changed`. load_rest() reads the rest of the chunk
    // from the store. The buffer must not be pinned before that.
    bool is_partial = false;
  };
  using Chunks = std::map<int64_t, Chunk>;

  // The present content of a chunk that is about to be written to: in memory, in the store, or
  // none.
  struct Base {
    enum class Kind { kMemory, kStore, kNothing };
    Kind kind = Kind::kNothing;
    Chunk memory;                                // for kMemory
    ChunkPin pin;                                // for kMemory: pins the buffer of `memory`
    std::unique_ptr<engine::Snapshot> snapshot;  // for kStore: has the stored chunk
    int64_t stored_length = 0;                   // for kStore: the file's length in the store
    bool absent_is_hole = false;  // for kStore: true if a chunk that the store lacks is a hole
    uint32_t size = 0;            // bytes of the chunk that are content now
  };

  enum class CommitKind { kBackground, kFlush };
  class CommitLock;
  // A commit in progress.
  struct Prepared {
    FileCommit commit;
    bool content = false;    // content_changed_ when the commit began
    bool times = false;      // times_changed_ when the commit began
    bool allocated = false;  // allocated_changed_ when the commit began
    std::shared_ptr<HashStream> md5;
    std::shared_ptr<HashStream::Mark> mark;
    std::shared_ptr<OpenFile> listed;  // the Writeback's reference; must be released without mutex_
  };

  // Returns a name of the file for messages.
  std::string described() const;
  uint8_t* content_of(const Chunk& chunk) const {
    return chunk.buffer->bytes() + layout_.header_bytes();
  }
  int64_t chunk_count(int64_t length) const {
    return length / chunk_bytes_ + (length % chunk_bytes_ != 0 ? 1 : 0);
  }

  // --- Writing (open_file_write.cc). A writer must hold write_mutex_, so that no chunk becomes
  // dirty between a check and the change that follows the check.
  //
  // Fails with FileTooLarge if a change of this range would make the file too large, with BadValue
  // for a negative offset, and with FileDeleted if the file is gone.
  Status check_change(int64_t offset, uint64_t size) const GM_EXCLUDES(mutex_);
  // Makes chunk `n` dirty, and puts `data` into the chunk at byte `from`. With empty data, only
  // makes the chunk dirty.
  Status change_chunk(int64_t n, uint32_t from, std::span<const uint8_t> data, TimeUpdate times)
      GM_REQUIRES(write_mutex_) GM_EXCLUDES(mutex_);
  // Returns chunk `n` if it is dirty and its bytes from `from` on may be changed in its buffer.
  // Otherwise returns null.
  Chunk* chunk_in_place(int64_t n, uint32_t from) GM_REQUIRES(mutex_);
  // Finds the present content of chunk `n`.
  Result<Base> find_base(int64_t n) GM_REQUIRES(mutex_);
  // Makes chunk `n` dirty without reading its stored content, and puts `data` into `buffer` at byte
  // `from`. Returns false and changes nothing if this is not possible: `data` must be whole blocks
  // of a full chunk, and the store must have this chunk and be able to overwrite single blocks of
  // it.
  Result<bool> put_partial(int64_t n, const std::shared_ptr<ChunkBuffer>& buffer, uint32_t from,
                           std::span<const uint8_t> data) GM_REQUIRES(mutex_);
  // If `chunk.is_partial` is set, reads the rest of the chunk from the store, and resets
  // `is_partial`.
  Status load_rest(int64_t n, Chunk& chunk) GM_REQUIRES(mutex_);
  // Copies the content of `base` into the chunk, except for the bytes [from, to). The caller must
  // write these bytes.
  Status fill(Chunk& chunk, int64_t n, const Base& base, uint32_t from, uint32_t to) const;
  // Puts `data` into the chunk at byte `from`, and updates length_, holes_ and allocated_.
  void put(int64_t n, Chunk& chunk, uint32_t from, std::span<const uint8_t> data)
      GM_REQUIRES(mutex_);
  // Returns the bytes of memory that dirty chunks occupy.
  uint64_t dirty_bytes() const GM_REQUIRES(mutex_) { return dirty_.size() * layout_.capacity(); }
  // Must be called before each write. While the disk is full, a file may have
  // FileTableOptions::commit_bytes of uncommitted chunks in memory. Beyond that, this function
  // tries to commit them, and fails if the commit fails.
  Status check_room() GM_EXCLUDES(mutex_);
  // If the last commit met a full disk, commits again if there may be room now. If there is no
  // room, fails with the error of the last commit. Does nothing if the last commit met no full
  // disk.
  Status commit_once_more() GM_EXCLUDES(mutex_);
  // Returns a buffer for one chunk. Waits while the budget of ChunkMemory is spent. Fails with the
  // error of a background commit that has failed meanwhile. The caller must hold no other buffer.
  Result<std::shared_ptr<ChunkBuffer>> acquire_buffer() GM_EXCLUDES(mutex_);
  // Returns true if the last chunk of the file must become dirty before chunk `n` is written: chunk
  // `n` comes after the last chunk, and the last chunk is short, not dirty, and not a known hole.
  bool needs_padding(int64_t n) const GM_REQUIRES(mutex_);
  // Makes the last chunk dirty if needs_padding(n) is true and the store does not show that the
  // chunk is a hole.
  Status pad_tail(int64_t n) GM_REQUIRES(write_mutex_) GM_EXCLUDES(mutex_);
  // Shortens the file to `length` bytes, which end after `tail_bytes` bytes of chunk `tail`.
  // Returns false and changes nothing if chunk `tail` must be made dirty first.
  bool try_cut(int64_t length, int64_t tail, uint32_t tail_bytes, TimeUpdate times)
      GM_EXCLUDES(mutex_);
  // Must be called after each change of the content. Calls record_times().
  void record_change(TimeUpdate times) GM_REQUIRES(mutex_);
  // Sets mtime and ctime to the current time if `times` says so.
  void record_times(TimeUpdate times) GM_REQUIRES(mutex_);
  // Registers the file with the Writeback, which commits it later.
  void list_as_dirty() GM_REQUIRES(mutex_);

  // --- Making holes (open_file_holes.cc).
  //
  // Writes zeros into the bytes [offset, end), but only in chunks that are not holes.
  Status write_zeros(int64_t offset, int64_t end, TimeUpdate times) GM_REQUIRES(write_mutex_)
      GM_EXCLUDES(mutex_);
  // Makes the chunks [first, last) a hole in the store, in a commit of its own. The caller must
  // ensure that none of these chunks is dirty or becomes dirty.
  Status punch(int64_t first, int64_t last, TimeUpdate times) GM_REQUIRES(write_mutex_)
      GM_EXCLUDES(mutex_);
  // Returns how many chunks the store would have if the file were committed now. If holes_unknown_
  // is set, this is an upper limit: every uncommitted chunk counts as new, although it may replace
  // a stored one. Returns nothing if the number of stored chunks is not known.
  std::optional<int64_t> estimated_chunks() const GM_REQUIRES(mutex_);

  // --- Allocated ranges (open_file_allocation.cc).
  //
  // Removes from `ranges` the chunks in [first, last) that the store has, or that the next commit
  // will store.
  Status remove_stored(int64_t first, int64_t last, AllocatedRanges& ranges) GM_REQUIRES(mutex_);
  // Must be called when the next commit is going to store chunk `n`. The chunk then no longer
  // counts as allocated only by fallocate(2). Does nothing if the chunk is a hole.
  void record_stored(int64_t n) GM_REQUIRES(mutex_);
  // Must be called when the bytes [offset, end) become zeros. The blocks that lie in this range
  // then no longer count as allocated.
  void record_zeroed(int64_t offset, int64_t end) GM_REQUIRES(mutex_);
  // Must be called after the file was truncated to length_.
  void record_cut() GM_REQUIRES(mutex_);

  // --- Finding holes (open_file_seek.cc).
  //
  // The content of a chunk that is not a hole. The bytes after `bytes`, up to the end of the chunk,
  // are zeros.
  struct Content {
    std::span<const uint8_t> bytes;
    std::unique_ptr<engine::Snapshot> snapshot;  // keeps `bytes` valid if they are in the store
  };
  // Returns the content of chunk `n`. The content has no bytes if neither the memory nor the store
  // has the chunk.
  Result<Content> find_content(int64_t n) GM_REQUIRES(mutex_);
  // Returns the first chunk at or after `n` that is in memory or in the store, or `end`.
  Result<int64_t> next_chunk(int64_t n, int64_t end) GM_REQUIRES(mutex_);
  // Returns the first chunk at or after `n` that is a hole, or the number of chunks.
  Result<int64_t> next_hole_chunk(int64_t n) GM_REQUIRES(mutex_);
  // Returns true if chunk `n` is a hole, or if it is before the beginning or after the end of the
  // file.
  Result<bool> is_hole(int64_t n) GM_REQUIRES(mutex_);
  // If holes_unknown_ is set, finds out whether chunk `n` is a hole, and adds the chunk to holes_
  // if it is a hole.
  Status look_for_hole(int64_t n) GM_REQUIRES(mutex_);
  // Returns true if chunk `n` borders on a hole, or on the beginning or end of the file. Chunk `n`
  // must not be a hole. Always returns false if a chunk is not larger than a block (kBlockBytes).
  Result<bool> is_edge(int64_t n) GM_REQUIRES(mutex_);
  // Returns the file offset of the first byte of chunk `n`, at or after the file offset `offset`,
  // that is in a block of zeros. If `of_zeros` is false, the byte must be in a block that has other
  // bytes. Returns nothing if the chunk has no such block.
  Result<std::optional<int64_t>> next_block(int64_t n, int64_t offset, bool of_zeros)
      GM_REQUIRES(mutex_);

  // --- md5 (open_file_md5.cc).
  //
  // Must be called when bytes change that were submitted to md5_. Abandons the digest.
  void break_md5() GM_REQUIRES(mutex_);
  // Begins a new digest, if the bucket keeps md5. No bytes are submitted to it yet.
  void restart_md5() GM_REQUIRES(mutex_);
  // Submits to md5_ the chunks from md5_end_ on that are complete.
  void advance_md5() GM_REQUIRES(mutex_);
  // Submits all remaining content to md5_. Returns false if md5_intact_ is false, except for a
  // small file whose chunks are all dirty and whole. Also returns false if too many bytes would
  // have to be read from the store, or if too many zeros of holes would have to be hashed.
  bool complete_md5() GM_REQUIRES(mutex_);
  // Submit the bytes [from, to) of one chunk to md5_. submit_md5() takes a chunk in memory, and
  // submit_stored_md5() reads the chunk from the store.
  void submit_md5(const Chunk& chunk, uint32_t from, uint32_t to, HashStream::When when)
      GM_REQUIRES(mutex_);
  void submit_stored_md5(int64_t n, uint32_t from, uint32_t to) GM_REQUIRES(mutex_);
  // Returns chunk `n` if it is in dirty_ or frozen_. Otherwise returns null.
  const Chunk* find_in_memory(int64_t n) const GM_REQUIRES(mutex_);
  // Like find_in_memory(), but also loads the rest of a partial chunk (load_rest()).
  Result<const Chunk*> find_whole(int64_t n) GM_REQUIRES(mutex_);

  // --- Committing (open_file_commit.cc).
  //
  // Does the work of refresh().
  void adopt(const FilesDocument& stored) GM_REQUIRES(write_mutex_) GM_EXCLUDES(mutex_);
  // Takes the commit lock, and commits all uncommitted changes in one transaction, or in two as F1
  // says. kFlush also commits the md5 if it is cheap to compute.
  Status commit(CommitKind kind) GM_EXCLUDES(mutex_);
  // Must be called after a wait for the commit lock that began at `begun`. If the commit of another
  // thread found no server during this wait, and the wait was long, returns the error of that
  // commit. The caller must then fail with this error, because it has waited long enough for a
  // server. Otherwise returns nothing.
  std::optional<Error> failed_meanwhile(Clock::time_point begun) const GM_EXCLUDES(mutex_);
  // The part of commit() under the commit lock. If this function throws, the caller must call
  // undo() with `prepared`.
  Status commit_prepared(CommitKind kind, Prepared& prepared) GM_EXCLUDES(mutex_);
  // Returns the uploadDate for the next commit of content. This date is later than the uploadDate
  // of each earlier commit, so that (_id, uploadDate) identifies one content. But write_commit()
  // may keep the old date if the file is an earlier revision (keep_revision_order()).
  bson::Date next_upload_date() const GM_REQUIRES(mutex_) {
    return std::max(bson::Date::now(), bson::Date{stored_.upload_date.milliseconds + 1});
  }
  // Collects in `prepared` what the commit writes, and freezes the dirty chunks. Returns false if
  // there is nothing to commit.
  bool prepare(CommitKind kind, Prepared& prepared) GM_REQUIRES(mutex_);
  // Runs the transaction of a commit.
  Status write_to_store(FileCommit& commit) GM_EXCLUDES(mutex_);
  // Turns the error FileNotFound for this file into FileDeleted.
  Error as_deleted(Error error) const;
  void prepare_chunks(FileCommit& commit) GM_REQUIRES(mutex_);
  // Must be called when the transaction of a commit has succeeded.
  void finish(const Prepared& prepared) GM_REQUIRES(mutex_);
  // Returns how many of the file's chunks the store has, if that is known.
  std::optional<int64_t> chunks_in_store() const GM_REQUIRES(mutex_);
  void record_holes(const FileCommit& commit) GM_REQUIRES(mutex_);
  // Must be called after a commit has changed the content in the store without an md5. Lets the
  // background work compute the md5 if `has_own_date` is true: the commit made the uploadDate
  // later.
  void reschedule_md5(bool has_own_date) GM_REQUIRES(mutex_);
  // Must be called when the transaction of a commit has failed. Makes the frozen chunks dirty
  // again, except FileCommit::unwritable, which it drops. If the file was deleted or another
  // process has changed it, drops all dirty and frozen chunks instead.
  void undo(Prepared& prepared, const Error& error) GM_REQUIRES(mutex_);
  // Drops all uncommitted changes. Must be called when another process has changed the content: the
  // changes of this process can then no longer be committed.
  void drop_changes() GM_REQUIRES(mutex_);
  // Returns false if the ctime of `posix` is earlier than the ctime of posix_. The fields of
  // `posix` were then read before this process changed them.
  bool is_current(const PosixFields& posix) const GM_REQUIRES(mutex_);
  // Returns true if this object has changes that are not committed, or a commit is in progress.
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
  // The ranges that fallocate(2) has allocated and that have no stored chunks. Up to length_, they
  // cover only holes.
  AllocatedRanges allocated_ GM_GUARDED_BY(mutex_);
  bool allocated_changed_ GM_GUARDED_BY(mutex_) = false;
  Chunks dirty_ GM_GUARDED_BY(mutex_);
  Chunks frozen_ GM_GUARDED_BY(mutex_);
  int64_t frozen_end_ GM_GUARDED_BY(mutex_) = kNoLimit;
  int64_t store_end_ GM_GUARDED_BY(mutex_);  // truncation lowers it immediately, commits raise it
  Holes holes_ GM_GUARDED_BY(mutex_);
  bool holes_unknown_ GM_GUARDED_BY(mutex_);
  bool listed_ GM_GUARDED_BY(mutex_) = false;  // the Writeback lists this file as dirty

  // The files document in the store, as this object has last written it or taken it over
  // (refresh()).
  FilesDocument stored_ GM_GUARDED_BY(mutex_);
  bool committing_ GM_GUARDED_BY(mutex_) = false;
  // punch() is removing stored chunks that holes_ does not have yet.
  bool punching_ GM_GUARDED_BY(mutex_) = false;
  std::optional<Error> background_error_ GM_GUARDED_BY(mutex_);
  // The error of the last commit, if the disk was full.
  std::optional<Error> no_room_ GM_GUARDED_BY(mutex_);
  // The error of the last commit, if no server answered, and the time of that error.
  std::optional<Error> no_server_ GM_GUARDED_BY(mutex_);
  Clock::time_point no_server_at_ GM_GUARDED_BY(mutex_);
  std::optional<Error> gone_ GM_GUARDED_BY(mutex_);  // why the file is no longer usable
  bool detached_ GM_GUARDED_BY(mutex_) = false;
  bool outdated_ GM_GUARDED_BY(mutex_) = false;  // the document in the store differs from stored_
  // True if the store may have chunks beyond the end of the file: another process may have
  // truncated the file to its present length, and may not have removed all chunks yet.
  bool may_have_garbage_ GM_GUARDED_BY(mutex_);
  // The version of the stored content (chunk_cache.h, C1). The version grows before and after each
  // change by this process, and when this process learns of a change by others.
  uint64_t version_ GM_GUARDED_BY(mutex_) = 0;

  // While md5_intact_ is true, the bytes [0, md5_end_) have been submitted to md5_ and have not
  // changed since. md5_ is null while no bytes have been submitted.
  std::shared_ptr<HashStream> md5_ GM_GUARDED_BY(mutex_);
  int64_t md5_end_ GM_GUARDED_BY(mutex_) = 0;
  bool md5_intact_ GM_GUARDED_BY(mutex_);
  bool md5_scheduled_ GM_GUARDED_BY(mutex_) = false;

  // The last time when this process read or wrote what the files document says about the content.
  Clock::time_point confirmed_at_ GM_GUARDED_BY(mutex_);
  // The last time when this process changed the content in memory.
  Clock::time_point changed_at_ GM_GUARDED_BY(mutex_);
  ReadAhead read_ahead_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::gridfs
