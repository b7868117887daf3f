// Checkpoints: what makes commits durable without a sync in each. FORMAT.md, chapter "Durability",
// has the invariants cited here as D numbers.
//
// One thread takes them, one at a time: every `interval` while there is something new, when
// data.mdb has grown much or much of it waits to be reused, when the log has begun a segment,
// whenever someone asks, and a last one at closing. Requests that arrive while one is being taken
// share the next.
//
// Small commits are made durable by the log (redo_log.h) between them.
//
// The thread also logs, once and within an interval, why nothing is written any more: whoever only
// reads is told of a record that does not fit its checksum, not of a device that fails.
//
// Thread-safety: thread-safe.
#pragma once

#include <lmdb.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
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
  // `folder`, `queue`, `log` and `env` outlive it.
  Checkpointer(StoreFolder& folder, WriteQueue& queue, RedoLog& log, MDB_env* env,
               const OpenOptions& options, const TestOptions& test);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Pins the snapshot there is (D2). Before any write.
  Status pin();
  // A checkpoint before start() (D15).
  Status take_first() { return take(); }
  // Then a checkpoint, and the thread.
  Status start();
  // Takes a last checkpoint if one is needed and ends the thread. Its error, if it failed.
  Status stop() GM_EXCLUDES(mutex_);

  // Returns when everything committed before the call is durable, by the log if it can.
  Status make_durable() GM_EXCLUDES(mutex_);
  // The same, by a checkpoint.
  Status checkpoint() GM_EXCLUDES(mutex_);

  // To be called before each write. Has a checkpoint taken if data.mdb has grown by
  // options.checkpoint_bytes since the last was begun, or as much was freed: pages that can be
  // reused when the next one is. Waits for one if kGarbageMax times as much was freed since the
  // last was done. What grows by what is added waits for nothing.
  void make_room() GM_EXCLUDES(mutex_);

  // Bytes of pages that can be reused when the next checkpoint is done, and not before.
  uint64_t freed_since_checkpoint() GM_EXCLUDES(counting_);

  std::chrono::milliseconds since_last() const GM_EXCLUDES(mutex_);

 private:
  // A snapshot that LMDB keeps as it is while this is held: it reuses no page that the snapshot of
  // any reader refers to.
  class Pin {
   public:
    Pin() = default;
    ~Pin() { mdb_txn_abort(txn_); }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    // Holds the newest snapshot; returns LMDB's code. The reader slot stays ours for good, so that
    // this cannot fail for want of one.
    int hold(MDB_env* env);
    void release() { mdb_txn_reset(txn_); }
    uint64_t snapshot() const { return mdb_txn_id(txn_); }

   private:
    MDB_txn* txn_ = nullptr;
  };

  void run() GM_EXCLUDES(mutex_);
  void tell_refusal() GM_EXCLUDES(mutex_);
  // Only from start(), then the thread, then stop().
  Status take();
  Result<MetaPair> note_snapshot(Pin& pin);
  Error sync_failed(const Error& cause) GM_EXCLUDES(failing_);
  // Refuses what is written from then on, if a file of the store is not in its place any more:
  // nothing is durable then that is written.
  Status check_place(const Status& in_place);
  uint64_t newest_snapshot() const;
  // Counts what transactions have freed that were not looked at yet; returns freed_.
  uint64_t count_freed() GM_EXCLUDES(counting_);
  // `then` is loaded before what it is taken from, which only grows.
  uint64_t freed_since(uint64_t then) const { return freed_ - then; }
  struct Freed {
    uint64_t bytes = 0;
    uint64_t up_to = 0;  // the last transaction counted
  };
  // Of pages that transactions after that one no longer refer to.
  Freed freed_after(uint64_t transaction) const;
  // By how much data.mdb has grown since that was its last page.
  uint64_t growth_since(uint64_t last_page) const;

  StoreFolder& folder_;
  WriteQueue& queue_;
  RedoLog& log_;
  MDB_env* const env_;
  const std::chrono::milliseconds interval_;
  const uint64_t growth_bytes_;
  const TestOptions test_;

  // The thread's own: the pin of the newest checkpoint, and the one for the next.
  std::array<Pin, 2> pins_;
  size_t pinned_ = 0;
  bool has_told_refusal_ = false;

  mutable Mutex mutex_;
  Condition wanted_changed_;
  Condition taken_changed_;
  uint64_t wanted_ GM_GUARDED_BY(mutex_) = 0;  // requests so far
  uint64_t taken_ GM_GUARDED_BY(mutex_) = 0;   // requests answered
  Status last_ GM_GUARDED_BY(mutex_);          // what came of the last one
  uint64_t durable_snapshot_ GM_GUARDED_BY(mutex_) = 0;
  std::chrono::steady_clock::time_point last_time_ GM_GUARDED_BY(mutex_);
  bool stopping_ GM_GUARDED_BY(mutex_) = false;
  bool grown_ GM_GUARDED_BY(mutex_) = false;  // data.mdb or the log, so much that one is wanted
  // Of the last one that was begun: data.mdb's last page then.
  std::atomic<uint64_t> begun_at_page_ = 0;
  // Bytes freed from the start on, by transactions up to counted_to_, to be counted again at
  // count_at_; the same when the last checkpoint was begun, and what the last one that is done
  // says.
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
