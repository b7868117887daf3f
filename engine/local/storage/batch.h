// An LMDB transaction in which write transactions follow one another, so that LMDB writes the pages
// they share once. Each of them is committed when the file `pending` has its changes.
//
// LMDB's writer lock belongs to a thread, and a batch outlives the turns of those who write in it:
// a thread of its own begins and ends the LMDB transaction. It also has a batch ended that nobody
// adds to any more.
//
// Thread-safety: belongs to whoever has the writers' turn, but for `on_due`, which it calls itself.
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
  // What LMDB writes at once, and what is in memory until then.
  static constexpr int kTransactionsMax = 512;
  // Programs that read beside us see nothing of a batch before it is committed.
  static constexpr std::chrono::milliseconds kTimeMax{20};

  // `on_due` is called when a batch has been open for kTimeMax, and again and again while it is: on
  // the thread, which may then be asked for nothing until it returns.
  Batch(MDB_env* env, PendingFile pending, std::function<void()> on_due);
  ~Batch();  // one that is open is given up
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Until then none may be begun. Where no thread can be made, none ever.
  void allow();
  // Whether one may be begun.
  bool usable() const { return is_allowed_ && pending_.usable(); }
  bool is_open() const { return txn_ != nullptr; }
  MDB_txn* txn() const { return txn_; }
  bool is_full() const;

  // LMDB's codes. After any end there is no transaction, and what was added stays until forget().
  int begin();
  int commit();
  void abort();
  // The LMDB transaction is neither used nor ended any more.
  void abandon() GM_EXCLUDES(mutex_);

  // What is committed in it: in the order of add(). Complete, unless memory was short.
  const RedoChanges& changes() const { return changes_; }
  bool is_empty() const { return transactions_ == 0; }
  // False: there is no room, nothing was added.
  bool add(const RedoChanges& changes);
  // LMDB has committed what was added: this is empty.
  void forget();

 private:
  // Does it on the thread; returns what it returned.
  int on_thread(const std::function<int()>& job) GM_EXCLUDES(mutex_);
  void run() GM_EXCLUDES(mutex_);

  MDB_env* const env_;
  const std::function<void()> on_due_;
  PendingFile pending_;
  bool is_allowed_ = false;
  MDB_txn* txn_ = nullptr;
  RedoChanges changes_;
  int transactions_ = 0;
  std::chrono::steady_clock::time_point begun_at_;

  Mutex mutex_;
  Condition wanted_;
  Condition done_;
  const std::function<int()>* job_ GM_GUARDED_BY(mutex_) = nullptr;
  int code_ GM_GUARDED_BY(mutex_) = 0;
  bool is_watched_ GM_GUARDED_BY(mutex_) = false;  // it is open
  bool stopping_ GM_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace gridmount::local
