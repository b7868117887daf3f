// The log: what makes small commits durable with one sync, between checkpoints. FORMAT.md, chapter
// "redo", has what it writes, "Durability" the invariants cited as D numbers.
//
// Commits are kept in memory, in their order, until they are written or a checkpoint has them.
// Threads that ask at the same time share a record and its sync: the first writes what there is for
// all of them. Those of a batch (batch.h) are told one by one, before LMDB commits them as one, so
// that whoever waits for them to be durable does not wait for LMDB.
//
// Thread-safety: thread-safe, but for start().
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
  // Of the changes that wait to be written. Above it they are left to the next checkpoint.
  static constexpr size_t kWaitingBytesMax = size_t{1} << 20;

  RedoLog(RedoFile file, const TestOptions& test) : test_(test), file_(std::move(file)) {}
  RedoLog(const RedoLog&) = delete;
  RedoLog& operator=(const RedoLog&) = delete;

  // When the first checkpoint has been taken (D12), before the first commit. See
  // RedoFile::prepare().
  Status start(uint64_t bytes) GM_EXCLUDES(mutex_);

  // Committed in LMDB's transaction of that number, or to be a part of it, all before it having
  // been told; from the writers' turn.
  void committed(uint64_t transaction, RedoChanges changes) noexcept GM_EXCLUDES(mutex_);
  // A checkpoint is begun of all that was told; from the writers' turn.
  void checkpoint_begins() GM_EXCLUDES(mutex_);
  // The slot of the one that was begun last is synced, and has all up to that transaction.
  void checkpointed(uint64_t transaction) GM_EXCLUDES(mutex_);

  enum class Outcome {
    kDurable,          // all that was told of before the call
    kNeedsCheckpoint,  // before it is that
  };
  // An error is that of a sync, and final (D8).
  Result<Outcome> make_durable() GM_EXCLUDES(mutex_);

  // Whether a segment has been begun since this was asked: the other one is free again after a
  // checkpoint, which had better come before this one is full.
  bool has_begun_segment() GM_EXCLUDES(mutex_);

 private:
  std::list<RedoTransaction> take_waiting() GM_REQUIRES(mutex_);
  // `last`: the number of the last commit in the run.
  Result<Outcome> write(std::list<RedoTransaction> run, uint64_t last, const RedoFile::Place& place)
      GM_EXCLUDES(mutex_);
  void leave_to_checkpoint() GM_REQUIRES(mutex_);

  const TestOptions test_;
  // Written by whoever has set writing_.
  RedoFile file_;

  Mutex mutex_;
  Condition written_;
  // Commits, counted from 1 in the order they were told: those that wait are the ones from
  // first_waiting_ to newest_.
  std::list<RedoTransaction> waiting_ GM_GUARDED_BY(mutex_);
  size_t waiting_bytes_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t first_waiting_ GM_GUARDED_BY(mutex_) = 1;
  uint64_t newest_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t durable_ GM_GUARDED_BY(mutex_) = 0;        // all up to it are
  uint64_t at_checkpoint_ GM_GUARDED_BY(mutex_) = 0;  // newest_ when the last one was begun
  uint64_t checkpointed_ GM_GUARDED_BY(mutex_) = 0;   // the newest synced slot's transaction
  bool writing_ GM_GUARDED_BY(mutex_) = false;
  bool usable_ GM_GUARDED_BY(mutex_) = false;
  bool has_begun_segment_ GM_GUARDED_BY(mutex_) = false;
};

}  // namespace gridmount::local
