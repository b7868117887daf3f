// The log makes small commits durable between two checkpoints, with one sync. FORMAT.md, chapter
// "redo", describes its file. The D numbers are the invariants of FORMAT.md's chapter "Durability".
//
// The log keeps commits in memory, in order, until they are written to the file or a checkpoint has
// them. Threads that call make_durable() at the same time share a record and its sync: the first
// thread writes all commits that wait. The log gets the transactions of a batch (batch.h) one by
// one, before LMDB commits them together. So make_durable() need not wait for LMDB.
//
// Thread-safe, except for start().
#pragma once

#include <cstdint>
#include <list>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/local/files/redo_file.h"
#include "engine/local/test_options.h"

namespace gridmount::local {

class RedoLog {
 public:
  // The limit for the changes that wait to be written. If it is exceeded, the log drops these
  // changes, and only a checkpoint makes them durable.
  static constexpr size_t kWaitingBytesMax = size_t{1} << 20;

  RedoLog(RedoFile file, const TestOptions& test) : test_(test), file_(std::move(file)) {}
  RedoLog(const RedoLog&) = delete;
  RedoLog& operator=(const RedoLog&) = delete;

  // Gives the file the size `bytes`, and makes the log usable. If there is no file, or it cannot
  // get this size, the log stays unusable. Must be called after a checkpoint that has all commits
  // of the recovery (D12). Fails as RedoFile::prepare() does.
  Status start(uint64_t bytes) GM_EXCLUDES(mutex_);

  // Adds a commit to the log. `transaction` is the number of the LMDB transaction that has the
  // commit. All commits in a batch have the number of the batch's LMDB transaction. All commits
  // must be added in order. The caller must hold the write lock.
  void committed(uint64_t transaction, RedoChanges changes) noexcept GM_EXCLUDES(mutex_);
  // Must be called when a checkpoint begins that will have all commits added so far. The caller
  // must hold the write lock.
  void checkpoint_begins() GM_EXCLUDES(mutex_);
  // Must be called when the slot of this checkpoint has been synced. The slot has all transactions
  // up to `transaction`.
  void checkpointed(uint64_t transaction) GM_EXCLUDES(mutex_);

  enum class Outcome {
    kDurable,          // all commits added before the call are durable
    kNeedsCheckpoint,  // only a checkpoint can make them durable
  };
  // Makes all commits that were added before the call durable, if the log can. Fails only if a sync
  // fails, and this failure is final (D8).
  Result<Outcome> make_durable() GM_EXCLUDES(mutex_);

  // Returns whether the log has begun a segment since the last call of this function. The next
  // checkpoint frees the other segment, so it should be taken before the new segment is full.
  bool has_begun_segment() GM_EXCLUDES(mutex_);

 private:
  std::list<RedoTransaction> take_waiting() GM_REQUIRES(mutex_);
  // `last` is the number of the last commit in `run`, counted like newest_.
  Result<Outcome> write(std::list<RedoTransaction> run, uint64_t last,
                        const RedoFile::Extent& extent) GM_EXCLUDES(mutex_);
  void drop_waiting() GM_REQUIRES(mutex_);

  const TestOptions test_;
  // Only the thread that has set writing_ may write to the file.
  RedoFile file_;

  Mutex mutex_;
  Condition written_;
  // Commits are numbered from 1, in the order in which they were added. The commits from
  // first_waiting_ to newest_ are in waiting_.
  std::list<RedoTransaction> waiting_ GM_GUARDED_BY(mutex_);
  size_t waiting_bytes_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t first_waiting_ GM_GUARDED_BY(mutex_) = 1;
  uint64_t newest_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t durable_ GM_GUARDED_BY(mutex_) = 0;        // all commits up to this one are durable
  uint64_t at_checkpoint_ GM_GUARDED_BY(mutex_) = 0;  // newest_ when the last checkpoint was begun
  uint64_t checkpointed_ GM_GUARDED_BY(mutex_) = 0;   // the newest synced slot's transaction
  uint64_t transaction_ GM_GUARDED_BY(mutex_) = 0;    // the last transaction that was passed to
                                                      // committed()
  bool writing_ GM_GUARDED_BY(mutex_) = false;
  bool usable_ GM_GUARDED_BY(mutex_) = false;
  bool has_begun_segment_ GM_GUARDED_BY(mutex_) = false;
};

}  // namespace gridmount::local
