// An open LMDB transaction that contains several write transactions in sequence. So if several of
// them change a page, LMDB writes this page only once. Each write transaction is committed as soon
// as the file `pending` has its changes.
//
// LMDB's writer lock belongs to one thread, but several threads write in a batch. So the batch has
// its own thread, which begins and ends the LMDB transaction. This thread also calls `on_due` if a
// batch has been open for too long.
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
  // The limit of write transactions in a batch. It limits how much LMDB writes in one commit, and
  // the memory that the batch needs until then.
  static constexpr int kTransactionsMax = 512;
  // The limit for the changes of all transactions in a batch. The file `pending` may have room for
  // less, because each of its records also has a header and a checksum.
  static constexpr size_t kChangesBytesMax = size_t{120} << 10;
  static_assert(kChangesBytesMax < PendingFile::kBytes);
  // The time after which a batch should end, because other programs that read the store do not see
  // the batch's transactions before its end.
  static constexpr std::chrono::milliseconds kTimeMax{20};

  // `env` must outlive this object. When a batch has been open for `time_max`, the batch's thread
  // calls `on_due`, and repeats the call after each further `time_max` until the batch ends.
  // `on_due` must not wait, because the thread can neither begin nor end an LMDB transaction until
  // `on_due` returns.
  Batch(MDB_env* env, PendingFile pending, std::chrono::milliseconds time_max,
        std::function<void()> on_due);
  ~Batch();  // aborts an open LMDB transaction
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Starts the batch's thread. No batch can be begun before this call, or if the thread cannot be
  // created.
  void allow();
  // Returns whether a batch may be begun.
  bool usable() const { return is_allowed_ && pending_.usable(); }
  bool is_open() const { return txn_ != nullptr; }
  MDB_txn* txn() const { return txn_; }
  bool is_full() const;

  // begin() begins the LMDB transaction, and commit() or abort() ends it. begin() and commit()
  // return the codes of begin_in_sequence() and commit_in_sequence() (lmdb_context.h). After
  // commit() or abort(), changes() still returns the added changes, until clear_changes() is
  // called.
  int begin();
  int commit();
  void abort();
  // Forgets the LMDB transaction without ending it, after a fault has interrupted it. LMDB's writer
  // lock is not released.
  void abandon() GM_EXCLUDES(mutex_);

  // Returns the changes of all transactions in the batch, in the order of add(). The changes are
  // complete unless memory was short.
  const RedoChanges& changes() const { return changes_; }
  bool is_empty() const { return transactions_ == 0; }
  // Commits a transaction in the batch: writes its changes to `pending`. Returns false, and adds
  // nothing, if the changes of the transaction or of the batch are not complete, if the batch would
  // have more than kChangesBytesMax bytes of changes, or if `pending` has no room for the changes
  // or cannot be written.
  bool add(const RedoChanges& changes);
  // Removes all changes. Must be called after LMDB has committed the batch.
  void clear_changes();

 private:
  // Runs the job on the batch's thread and returns its result.
  int on_thread(const std::function<int()>& job) GM_EXCLUDES(mutex_);
  void run() GM_EXCLUDES(mutex_);

  MDB_env* const env_;
  const std::chrono::milliseconds time_max_;
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
