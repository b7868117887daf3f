// Takes checkpoints, which make many commits durable at once, so that a commit need not sync. The D
// numbers are the invariants of FORMAT.md's chapter "Durability".
//
// The first checkpoint is taken when the store is opened, and the last one, if it is needed, when
// the store is closed. In between, a thread takes the checkpoints one after another: after every
// `checkpoint_interval` in which there were commits, when data.mdb has grown much, when many freed
// pages wait to be reused, when the log has begun a segment, and on request. All requests that
// arrive during a checkpoint get the next one.
//
// Between checkpoints, the log (redo_log.h) makes small commits durable.
//
// If the store refuses writes, the thread logs the cause once, within one interval. Writers get the
// same error. Readers go on, and may meet damaged records. But if data.mdb-lock cannot be read, or
// the map does not show the newest commit, readers fail too (Environment::begin_read()).
//
// Thread-safe after start(). Before that, one thread calls pin(), then take_first() if a batch of
// the file `pending` must be replayed (D15), and then start(). One thread calls stop(), once.
#pragma once

#include <lmdb.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/local/files/store_folder.h"
#include "engine/local/storage/redo_log.h"
#include "engine/local/storage/write_queue.h"
#include "engine/local/test_options.h"

namespace gridmount::local {

class Checkpointer {
 public:
  // `folder`, `queue`, `log` and `env` must outlive this object.
  Checkpointer(StoreFolder& folder, WriteQueue& queue, RedoLog& log, MDB_env* env,
               const OpenOptions& options, const TestOptions& test);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Pins the current snapshot (D2). Must be called before the first write. Fails with LMDB's error.
  Status pin();
  // Takes a checkpoint before start() (D15). Fails as checkpoint() does.
  Status take_first();
  // Takes a checkpoint and starts the thread. Fails as checkpoint() does, and then does not start
  // the thread.
  Status start();
  // Ends the thread, which start() must have started. Takes a last checkpoint if the newest one
  // lacks commits, even if the log has them. Fails if this checkpoint fails, if the open batch
  // cannot be committed, if the store refuses writes, or if data.mdb or the lock file `owner` was
  // replaced.
  Status stop() GM_EXCLUDES(mutex_);

  // Waits until everything that was committed before the call is durable. Uses the log if possible,
  // otherwise a checkpoint. Fails with WritesRefused if a sync fails or if a file of the store was
  // replaced, and with the error of WriteQueue::refusal(). If a checkpoint is needed, also fails as
  // WriteQueue::flush() does, and with the errors of LMDB and of the files. The calling thread must
  // not hold the write lock.
  Status make_durable() GM_EXCLUDES(mutex_);
  // Like make_durable(), but uses a checkpoint and not the log. Returns the result of the newest
  // checkpoint that has ended when the thread wakes. This may be a later one than the one that it
  // asked for, so the function may fail although the caller's commits are durable.
  Status checkpoint() GM_EXCLUDES(mutex_);

  // Must be called before each write. Requests a checkpoint if data.mdb has grown by
  // options.checkpoint_bytes since the last checkpoint began, or if transactions have freed that
  // many bytes since then: only the next checkpoint makes these bytes reusable. In these cases,
  // also waits for one checkpoint if transactions have freed kGarbageMax (open_store.h) times
  // options.checkpoint_bytes since the last finished checkpoint began. Never waits because of
  // growth alone. If the calling thread holds the write lock, requests nothing and does not wait.
  void make_room() GM_EXCLUDES(mutex_);

  // Returns how many bytes of freed pages can be reused only when the next checkpoint is done.
  uint64_t freed_since_checkpoint() GM_EXCLUDES(counting_);

  // Returns the time since the last successful checkpoint ended. Must not be called before start().
  std::chrono::milliseconds since_last() const GM_EXCLUDES(mutex_);

  // Returns the number of the newest checkpoint's snapshot. This snapshot stays pinned until the
  // function returns another number. In crash tests without pins (TestOptions::pin is false),
  // returns the greatest uint64_t.
  uint64_t pinned_snapshot() const { return pinned_snapshot_; }

 private:
  // A read transaction that protects a snapshot: LMDB does not reuse a page to which a reader's
  // snapshot refers.
  class Pin {
   public:
    Pin() = default;
    ~Pin() { mdb_txn_abort(txn_); }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    // Pins the newest snapshot. Returns LMDB's code. After release() the pin still has its slot in
    // LMDB's table of readers, so that the next hold() cannot fail because the table is full.
    int hold(MDB_env* env);
    void release() { mdb_txn_reset(txn_); }
    uint64_t snapshot() const { return mdb_txn_id(txn_); }

   private:
    MDB_txn* txn_ = nullptr;
  };

  void run() GM_EXCLUDES(mutex_);
  void report_refusal() GM_EXCLUDES(mutex_);
  // Takes a checkpoint. One thread at a time calls this: first the thread that opens the store,
  // then the checkpoint thread, then the thread that calls stop().
  Status take();
  // Pins the current snapshot and returns its meta pages. The caller must hold the write lock
  // exclusively.
  Result<MetaPair> record_snapshot(Pin& pin);
  // Handles a failed sync (D8). Returns the error for the caller.
  Error sync_failed(const Error& cause) GM_EXCLUDES(failing_);
  // Refuses all later writes if a file of the store was deleted or replaced, because they could not
  // become durable. `in_place` is the result of the check.
  Status check_in_place(const Status& in_place);
  // Returns whether the newest slot has every commit.
  bool is_durable() const GM_EXCLUDES(mutex_);
  uint64_t newest_snapshot() const;
  // Adds the bytes that new transactions have freed to freed_, and returns freed_.
  uint64_t count_freed() GM_EXCLUDES(counting_);
  // `then` is an earlier value of freed_. freed_ only grows, so the difference is never negative.
  uint64_t freed_since(uint64_t then) const { return freed_ - then; }
  struct Freed {
    uint64_t bytes = 0;
    uint64_t up_to = 0;  // the last transaction that was counted
  };
  // Returns the bytes of the pages that the transactions after `transaction` have freed.
  Freed freed_after(uint64_t transaction) const;
  // Returns by how many bytes data.mdb has grown since `last_page` was its last page.
  uint64_t growth_since(uint64_t last_page) const;

  StoreFolder& folder_;
  WriteQueue& queue_;
  RedoLog& log_;
  MDB_env* const env_;
  const std::chrono::milliseconds interval_;
  const uint64_t growth_bytes_;
  const TestOptions test_;

  // Only pin() and take() use these pins: the one of the newest checkpoint, and the one for the
  // next checkpoint.
  std::array<Pin, 2> pins_;
  size_t pinned_ = 0;
  bool sync_failed_ = false;  // a sync of data.mdb in take() failed
  bool has_told_refusal_ = false;

  mutable Mutex mutex_;
  Condition wanted_changed_;
  Condition taken_changed_;
  uint64_t wanted_ GM_GUARDED_BY(mutex_) = 0;  // requests so far
  uint64_t taken_ GM_GUARDED_BY(mutex_) = 0;   // requests answered
  Status last_ GM_GUARDED_BY(mutex_);          // the result of the last checkpoint
  uint64_t durable_snapshot_ GM_GUARDED_BY(mutex_) = 0;
  std::chrono::steady_clock::time_point last_time_ GM_GUARDED_BY(mutex_);
  bool stopping_ GM_GUARDED_BY(mutex_) = false;
  // A checkpoint is necessary: data.mdb has grown, much of it was freed, or the log has begun a
  // segment.
  bool grown_ GM_GUARDED_BY(mutex_) = false;
  std::atomic<uint64_t> pinned_snapshot_ = std::numeric_limits<uint64_t>::max();
  // The last page of data.mdb when the last checkpoint was begun.
  std::atomic<uint64_t> begun_at_page_ = 0;
  // freed_ is the number of bytes that transactions up to counted_to_ have freed since the opening.
  // make_room() updates freed_ when the newest transaction has reached the number count_at_.
  // freed_at_begun_ is the value of freed_ when the last checkpoint began, and freed_at_durable_
  // its value when the last finished checkpoint began.
  Mutex counting_;
  uint64_t counted_to_ GM_GUARDED_BY(counting_) = 0;
  std::atomic<uint64_t> count_at_ = 0;
  std::atomic<uint64_t> freed_ = 0;
  std::atomic<uint64_t> freed_at_begun_ = 0;
  std::atomic<uint64_t> freed_at_durable_ = 0;
  Mutex failing_;
  std::thread thread_;
};

}  // namespace gridmount::local
