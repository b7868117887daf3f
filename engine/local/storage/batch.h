// An open LMDB transaction in which several write transactions follow one another, so that LMDB
// writes the pages that they share only once. Each of them is committed as soon as the file
// `pending` has its changes.
//
// LMDB's writer lock belongs to a thread, and a batch outlives the transactions of the threads that
// write in it. So a thread of the batch's own begins and ends the LMDB transaction. That thread
// also reports a batch that has been open for too long.
//
// Thread-safety: only the holder of the write lock may use a Batch. `on_due` is called on the
// batch's own thread without that lock.
#pragma once

#include <lmdb.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "engine/base/thread_safety.h"
#include "engine/local/files/pending_file.h"
#include "engine/local/format/redo_changes.h"

namespace gridmount::local {

class Batch {
 public:
  // Bounds what LMDB writes at once and what is held in memory until then.
  static constexpr int kTransactionsMax = 512;
  // Bounds the changes of all its transactions. `pending` has room for as many.
  static constexpr size_t kChangesBytesMax = size_t{120} << 10;
  static_assert(kChangesBytesMax < PendingFile::kBytes);
  // Bounds how long a batch hides its transactions from programs that read beside the owner.
  static constexpr std::chrono::milliseconds kTimeMax{20};

  // `env` must outlive this. The batch's thread calls `on_due` when a batch has been open for
  // kTimeMax, and repeatedly while it stays open. `on_due` must not block: until it returns, the
  // thread runs no job.
  Batch(MDB_env* env, PendingFile pending, std::function<void()> on_due);
  ~Batch();  // aborts an open LMDB transaction
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Starts the batch's thread. Before this call, and if the thread cannot be created, no batch can
  // be begun.
  void allow();
  // Returns whether a batch may be begun.
  bool usable() const { return is_allowed_ && pending_.usable(); }
  bool is_open() const { return txn_ != nullptr; }
  MDB_txn* txn() const { return txn_; }
  bool is_full() const;

  // begin() opens the LMDB transaction. commit() and abort() end it. Those with a result return
  // LMDB's codes. The changes that were added stay until clear_changes(), whatever the outcome.
  int begin();
  int commit();
  void abort();
  // Drops the LMDB transaction without ending it, after a fault has interrupted it. LMDB's writer
  // lock stays held.
  void abandon() GM_EXCLUDES(mutex_);

  // The changes of all transactions in the batch, in the order of add(). Complete unless memory was
  // short.
  const RedoChanges& changes() const { return changes_; }
  bool is_empty() const { return transactions_ == 0; }
  // Commits a transaction in the batch: writes its changes to `pending`. Returns false, having
  // added nothing, if there is no room for them or if they are not complete.
  bool add(const RedoChanges& changes);
  // Empties the batch, after LMDB has committed it.
  void clear_changes();

 private:
  // Runs the job on the batch's thread and returns its result.
  int on_thread(const std::function<int()>& job) GM_EXCLUDES(mutex_);
  void run() GM_EXCLUDES(mutex_);

  MDB_env* const env_;
  const std::function<void()> on_due_;
  PendingFile pending_;
  bool is_allowed_ = false;
  MDB_txn* txn_ = nullptr;
  RedoChanges changes_{kChangesBytesMax};
  int transactions_ = 0;
  uint64_t snapshot_ = 0;  // the snapshot from which the batch began
  std::chrono::steady_clock::time_point begun_at_;

  Mutex mutex_;
  Condition wanted_;
  Condition done_;
  const std::function<int()>* job_ GM_GUARDED_BY(mutex_) = nullptr;
  int code_ GM_GUARDED_BY(mutex_) = 0;
  bool is_watched_ GM_GUARDED_BY(mutex_) = false;  // a batch is open, so `on_due` is called
  bool stopping_ GM_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace gridmount::local
