// The log, which makes small commits durable between checkpoints, with one sync. FORMAT.md, chapter
// "redo", describes its file, and chapter "Durability" the invariants that are cited as D numbers.
//
// The log keeps commits in memory, in order, until they are written to the file or a checkpoint has
// them. Threads that wait for durability at the same time share a record and its sync: the first
// one writes all that is waiting. The transactions of a batch (batch.h) are passed to the log one
// by one, before LMDB commits them together. So making them durable does not have to wait for LMDB.
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
  // Limits the changes that wait to be written. Above it they are left to the next checkpoint.
  static constexpr size_t kWaitingBytesMax = size_t{1} << 20;

  RedoLog(RedoFile file, const TestOptions& test) : test_(test), file_(std::move(file)) {}
  RedoLog(const RedoLog&) = delete;
  RedoLog& operator=(const RedoLog&) = delete;

  // Gives the file the size `bytes`. Must be called after a checkpoint of all commits so far, which
  // are those of a recovery (D12). Fails as RedoFile::prepare() does.
  Status start(uint64_t bytes) GM_EXCLUDES(mutex_);

  // Adds a commit to the log. `transaction` is the number of the LMDB transaction that has
  // committed it, or whose batch it belongs to. All commits must be added, in order, and the caller
  // must hold the write lock.
  void committed(uint64_t transaction, RedoChanges changes) noexcept GM_EXCLUDES(mutex_);
  // Call when a checkpoint of all commits added so far begins. The caller must hold the write lock.
  void checkpoint_begins() GM_EXCLUDES(mutex_);
  // Call when the slot of the last begun checkpoint has been synced. The slot has everything up to
  // `transaction`.
  void checkpointed(uint64_t transaction) GM_EXCLUDES(mutex_);

  enum class Outcome {
    kDurable,          // all commits added before the call are durable
    kNeedsCheckpoint,  // only a checkpoint can make them durable
  };
  // Makes all commits added before the call durable, if the log can. Fails only if a sync fails,
  // which is final (D8).
  Result<Outcome> make_durable() GM_EXCLUDES(mutex_);

  // Returns whether a segment was begun since the last call. The other segment becomes free again
  // with the next checkpoint, which should be taken before the new segment is full.
  bool has_begun_segment() GM_EXCLUDES(mutex_);

 private:
  std::list<RedoTransaction> take_waiting() GM_REQUIRES(mutex_);
  // `last` is the position of the run's last commit, counted as newest_ is.
  Result<Outcome> write(std::list<RedoTransaction> run, uint64_t last,
                        const RedoFile::Extent& extent) GM_EXCLUDES(mutex_);
  void drop_waiting() GM_REQUIRES(mutex_);

  const TestOptions test_;
  // Written only by the thread that has set writing_.
  RedoFile file_;

  Mutex mutex_;
  Condition written_;
  // Commits are counted from 1, in the order in which they were added. Those from first_waiting_ to
  // newest_ are waiting.
  std::list<RedoTransaction> waiting_ GM_GUARDED_BY(mutex_);
  size_t waiting_bytes_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t first_waiting_ GM_GUARDED_BY(mutex_) = 1;
  uint64_t newest_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t durable_ GM_GUARDED_BY(mutex_) = 0;        // all commits up to this one are durable
  uint64_t at_checkpoint_ GM_GUARDED_BY(mutex_) = 0;  // newest_ when the last checkpoint was begun
  uint64_t checkpointed_ GM_GUARDED_BY(mutex_) = 0;   // the newest synced slot's transaction
  uint64_t transaction_ GM_GUARDED_BY(mutex_) = 0;    // the last one passed to committed()
  bool writing_ GM_GUARDED_BY(mutex_) = false;
  bool usable_ GM_GUARDED_BY(mutex_) = false;
  bool has_begun_segment_ GM_GUARDED_BY(mutex_) = false;
};

}  // namespace gridmount::local
