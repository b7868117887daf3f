// The state of a file that is open: what of it is in memory, what is in the store, and what the
// next commit will make of both.
//
// Chunk n of the file, 0 <= n < the number of chunks of length_, is
//   in dirty_    if it was written since the last commit began; else
//   in frozen_   if the commit in progress is writing it (and n < frozen_end_); else
//   a hole       if holes_ has it; else
//   in the store (and n < store_end_), or a hole if it is not there and holes_unknown_.
// The last chunk is never left in the store when the file grows past it: it is made dirty, so that
// the commit pads it to a full chunk.
//
// Thread-safety: thread-safe. Lock order: file_context.h.
#pragma once

#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "engine/base/thread_safety.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/content/file_commit.h"
#include "gridfs/content/file_context.h"
#include "gridfs/content/file_reader.h"
#include "gridfs/content/holes.h"
#include "gridfs/content/read_ahead.h"
#include "gridfs/content/written_range.h"

namespace gridmount::gridfs {

class OpenFile final : public File, public std::enable_shared_from_this<OpenFile> {
 public:
  // `stored` is what the store shows; called under the lock of OpenFiles.
  OpenFile(std::shared_ptr<FileContext> context, FilesDocument stored);
  ~OpenFile() override;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const bson::Value& id() const override { return id_; }
  int64_t length() const override GM_EXCLUDES(mutex_);
  FilesDocument document() const override GM_EXCLUDES(mutex_);
  Result<ReadResult> read(int64_t offset, size_t size) override GM_EXCLUDES(mutex_);
  Status write(int64_t offset, std::span<const uint8_t> data, TimeUpdate times) override
      GM_EXCLUDES(write_mutex_, mutex_);
  Status truncate(int64_t length, TimeUpdate times) override GM_EXCLUDES(write_mutex_, mutex_);
  Status zero(int64_t offset, int64_t size, TimeUpdate times) override
      GM_EXCLUDES(write_mutex_, mutex_);
  Status allocate(int64_t offset, int64_t size) override GM_EXCLUDES(write_mutex_, mutex_);
  Result<std::optional<int64_t>> next_data(int64_t offset) override GM_EXCLUDES(mutex_);
  Result<std::optional<int64_t>> next_hole(int64_t offset) override GM_EXCLUDES(mutex_);
  void set_times(const timespec& mtime, const timespec& ctime) override GM_EXCLUDES(mutex_);
  Status set_posix(const PosixFields& changes) override GM_EXCLUDES(mutex_);
  Status change_posix(const PosixChange& change) override GM_EXCLUDES(mutex_);
  Status flush() override GM_EXCLUDES(mutex_);
  Status sync() override GM_EXCLUDES(mutex_);
  Status expect_room() override GM_EXCLUDES(mutex_);

  // Commits what is dirty, without md5; an error is also kept for the next flush().
  Status commit_in_background() GM_EXCLUDES(mutex_);
  // Commits what is dirty with md5, and md5 if that is all that is missing and cheap to have.
  Status commit_with_md5() GM_EXCLUDES(mutex_) { return commit(CommitKind::kFlush); }
  // The files document has been moved to `detached`, or from there.
  void set_detached(bool detached) GM_EXCLUDES(mutex_);
  bool is_detached() const GM_EXCLUDES(mutex_);
  // The Committer lets go of the file: its reference, if it has one.
  std::shared_ptr<OpenFile> unlist() GM_EXCLUDES(mutex_);

  // Nothing is dirty and nothing was changed for `duration`.
  bool quiet_for(std::chrono::milliseconds duration) const GM_EXCLUDES(mutex_);
  // The files document of that date now has this md5.
  void md5_was_set(bson::Date upload_date, const std::string& md5) GM_EXCLUDES(mutex_);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  // Runs of holes remembered one by one; beyond it they are looked for in the store.
  static constexpr size_t kHoleRunsMax = 10'000;

  struct Chunk {
    std::shared_ptr<ChunkBuffer> buffer;
    uint32_t size = 0;                 // bytes of content; zeros follow up to the file's length
    std::optional<bson::ObjectId> id;  // of the chunk document, if known
    WrittenRange written;
  };
  using Chunks = std::map<int64_t, Chunk>;

  // Where the content of a chunk is that is about to be written to.
  struct Base {
    enum class Kind { kMemory, kStore, kNothing };
    Kind kind = Kind::kNothing;
    Chunk memory;  // kMemory: its buffer is pinned by `pin`
    ChunkPin pin;
    std::unique_ptr<engine::Snapshot> snapshot;
    int64_t stored_length = 0;  // of the file in the store
    bool absent_is_hole = false;
    uint32_t size = 0;  // bytes of it that are content now
  };

  enum class CommitKind { kBackground, kFlush };
  class CommitTurn;
  // A commit in progress.
  struct Prepared {
    FileCommit commit;
    bool content = false;
    bool times = false;
    bool allocated = false;
    std::shared_ptr<HashStream> md5;
    std::shared_ptr<HashStream::Mark> mark;
    std::shared_ptr<OpenFile> listed;  // let go without the lock
  };

  uint8_t* content_of(const Chunk& chunk) const {
    return chunk.buffer->bytes() + layout_.header_bytes();
  }
  int64_t chunk_count(int64_t length) const {
    return length / chunk_bytes_ + (length % chunk_bytes_ != 0 ? 1 : 0);
  }

  // --- Writing (open_file_write.cc); write_mutex_ is what keeps chunks from becoming dirty between
  // a look and the change.
  Status check_change(int64_t offset, uint64_t size) const GM_EXCLUDES(mutex_);
  // Makes chunk `n` dirty and puts `data` there at `from`.
  Status change_chunk(int64_t n, uint32_t from, std::span<const uint8_t> data, TimeUpdate times)
      GM_REQUIRES(write_mutex_) GM_EXCLUDES(mutex_);
  // The chunk, if it may be written to from `from` on where it is.
  Chunk* chunk_in_place(int64_t n, uint32_t from) GM_REQUIRES(mutex_);
  Result<Base> find_base(int64_t n) GM_REQUIRES(mutex_);
  // Makes the content of `base` the chunk's, but for the bytes [from, to), which the caller writes.
  Status fill(Chunk& chunk, int64_t n, const Base& base, uint32_t from, uint32_t to) const;
  void put(int64_t n, Chunk& chunk, uint32_t from, std::span<const uint8_t> data)
      GM_REQUIRES(mutex_);
  // What is dirty, in bytes of memory.
  uint64_t dirty_bytes() const GM_REQUIRES(mutex_) { return dirty_.size() * layout_.capacity(); }
  // While there is no room for what is dirty, no more is taken than a commit takes at once.
  Status check_room() GM_EXCLUDES(mutex_);
  // Commits what there was no room for, if there may be some by now; the error of then if not.
  Status commit_once_more() GM_EXCLUDES(mutex_);
  // Waits while the budget is spent.
  Result<std::shared_ptr<ChunkBuffer>> acquire_buffer() GM_EXCLUDES(mutex_);
  // Whether a change that begins in chunk `n` makes the file's last chunk a full one that the store
  // has shorter: it must then be dirty when the file grows, as only what is dirty is padded.
  bool needs_padding(int64_t n) const GM_REQUIRES(mutex_);
  // Makes it dirty.
  Status pad_tail(int64_t n) GM_REQUIRES(write_mutex_) GM_EXCLUDES(mutex_);
  // Cuts the file, unless the chunk it will end in is not dirty yet.
  bool try_cut(int64_t length, int64_t tail, uint32_t tail_bytes, TimeUpdate times)
      GM_EXCLUDES(mutex_);
  void note_change(TimeUpdate times) GM_REQUIRES(mutex_);
  void note_times(TimeUpdate times) GM_REQUIRES(mutex_);
  void list_as_dirty() GM_REQUIRES(mutex_);

  // --- Making holes (open_file_holes.cc).
  Status write_zeros(int64_t offset, int64_t end, TimeUpdate times) GM_REQUIRES(write_mutex_)
      GM_EXCLUDES(mutex_);
  // Makes the chunks [first, last) a hole in the store. None of them is dirty, nor becomes so.
  Status punch(int64_t first, int64_t last, TimeUpdate times) GM_REQUIRES(write_mutex_)
      GM_EXCLUDES(mutex_);
  // How many chunks the file would have in the store if committed now. What is not written yet and
  // may replace what is stored counts as more where the holes are not known.
  std::optional<int64_t> estimated_chunks() const GM_REQUIRES(mutex_);

  // --- What is allocated (open_file_allocation.cc).
  // Takes what is stored, or will be by the next commit, out of the ranges.
  Status remove_stored(int64_t first, int64_t last, AllocatedRanges& ranges) GM_REQUIRES(mutex_);
  // Chunk `n`, unless it is a hole, is stored up to the file's length by the next commit.
  void note_stored(int64_t n) GM_REQUIRES(mutex_);
  void note_zeroed(int64_t offset, int64_t end) GM_REQUIRES(mutex_);
  // The file has been cut to length_.
  void note_cut() GM_REQUIRES(mutex_);

  // --- Finding holes (open_file_seek.cc).
  // A chunk that is no hole; what follows, up to the chunk's end, is zeros.
  struct Content {
    std::span<const uint8_t> bytes;
    std::unique_ptr<engine::Snapshot> snapshot;
  };
  Result<Content> find_content(int64_t n) GM_REQUIRES(mutex_);
  // The first chunk at or behind `n` that is somewhere, or `end`.
  Result<int64_t> next_chunk(int64_t n, int64_t end) GM_REQUIRES(mutex_);
  // The first at or behind `n` that is a hole, or the number of chunks.
  Result<int64_t> next_hole_chunk(int64_t n) GM_REQUIRES(mutex_);
  // What is behind the file is one, too.
  Result<bool> is_hole(int64_t n) GM_REQUIRES(mutex_);
  // Where the holes are not known: whether chunk `n` is one is, afterwards.
  Status look_for_hole(int64_t n) GM_REQUIRES(mutex_);
  // Chunk `n`, which is no hole, is next to one.
  Result<bool> is_edge(int64_t n) GM_REQUIRES(mutex_);
  // From `offset`, which is in chunk `n`, the first byte there that is in a block of zeros, or in
  // one that is not.
  Result<std::optional<int64_t>> next_block(int64_t n, int64_t offset, bool of_zeros)
      GM_REQUIRES(mutex_);

  // --- md5 (open_file_md5.cc).
  void break_md5() GM_REQUIRES(mutex_);
  void restart_md5() GM_REQUIRES(mutex_);
  // Submits the chunks that are complete.
  void advance_md5() GM_REQUIRES(mutex_);
  // Submits the rest, all of which counts; false if that is not to be had cheaply.
  bool complete_md5() GM_REQUIRES(mutex_);
  void submit_md5(const Chunk& chunk, uint32_t from, uint32_t to, HashStream::When when)
      GM_REQUIRES(mutex_);
  void submit_stored_md5(int64_t n, uint32_t from, uint32_t to) GM_REQUIRES(mutex_);
  const Chunk* find_in_memory(int64_t n) const GM_REQUIRES(mutex_);

  // --- Committing (open_file_commit.cc).
  Status commit(CommitKind kind) GM_EXCLUDES(mutex_);
  // Each commit of content has its own, so that (_id, uploadDate) names one content.
  bson::Date next_upload_date() const GM_REQUIRES(mutex_) {
    return std::max(bson::Date::now(), bson::Date{stored_.upload_date.milliseconds + 1});
  }
  bool prepare(CommitKind kind, Prepared& prepared) GM_REQUIRES(mutex_);
  Status write_to_store(FileCommit& commit) GM_EXCLUDES(mutex_);
  // FileNotFound, of this file, as FileDeleted.
  Error as_deleted(Error error) const;
  void prepare_chunks(FileCommit& commit) GM_REQUIRES(mutex_);
  void finish(const Prepared& prepared) GM_REQUIRES(mutex_);
  // How many of the file's chunks the store has, if known.
  std::optional<int64_t> chunks_in_store() const GM_REQUIRES(mutex_);
  void note_holes(const FileCommit& commit) GM_REQUIRES(mutex_);
  // The content has changed; `has_own_date`: and uploadDate with it.
  void reschedule_md5(bool has_own_date) GM_REQUIRES(mutex_);
  void undo(const Prepared& prepared, const Error& error) GM_REQUIRES(mutex_);

  const std::shared_ptr<FileContext> context_;
  const bson::Value id_;
  const int64_t chunk_bytes_;
  const ChunkLayout layout_;

  Mutex write_mutex_;
  mutable Mutex mutex_;
  Condition turn_ended_;

  // What would be committed now.
  int64_t length_ GM_GUARDED_BY(mutex_);
  PosixFields posix_ GM_GUARDED_BY(mutex_);
  bool content_changed_ GM_GUARDED_BY(mutex_) = false;
  bool times_changed_ GM_GUARDED_BY(mutex_) = false;
  // None of it is in a chunk that is no hole, within the length.
  AllocatedRanges allocated_ GM_GUARDED_BY(mutex_);
  bool allocated_changed_ GM_GUARDED_BY(mutex_) = false;
  Chunks dirty_ GM_GUARDED_BY(mutex_);
  Chunks frozen_ GM_GUARDED_BY(mutex_);
  int64_t frozen_end_ GM_GUARDED_BY(mutex_) = kNoLimit;
  int64_t store_end_ GM_GUARDED_BY(mutex_);  // truncation lowers it at once, commits raise it
  Holes holes_ GM_GUARDED_BY(mutex_);
  bool holes_unknown_ GM_GUARDED_BY(mutex_);
  bool listed_ GM_GUARDED_BY(mutex_) = false;  // the Committer has been told

  // What the store has, as far as this file has written it.
  FilesDocument stored_ GM_GUARDED_BY(mutex_);
  bool committing_ GM_GUARDED_BY(mutex_) = false;
  // Chunks are being removed from the store that holes_ does not have yet.
  bool punching_ GM_GUARDED_BY(mutex_) = false;
  std::optional<Error> background_error_ GM_GUARDED_BY(mutex_);
  std::optional<Error> no_room_ GM_GUARDED_BY(mutex_);  // what the last commit has met
  std::optional<Error> lost_ GM_GUARDED_BY(mutex_);     // the files document is gone: why
  bool detached_ GM_GUARDED_BY(mutex_) = false;

  // The bytes [0, md5_end_) have been submitted to md5_ (null while there are none) and are
  // unchanged since, while md5_intact_.
  std::shared_ptr<HashStream> md5_ GM_GUARDED_BY(mutex_);
  int64_t md5_end_ GM_GUARDED_BY(mutex_) = 0;
  bool md5_intact_ GM_GUARDED_BY(mutex_);
  bool md5_scheduled_ GM_GUARDED_BY(mutex_) = false;

  Clock::time_point changed_at_ GM_GUARDED_BY(mutex_);
  ReadAhead read_ahead_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::gridfs
