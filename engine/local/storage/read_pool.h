// A pool of read transactions. Reusing a transaction saves an allocation and the search for a free
// slot in LMDB's table of readers.
//
// Thread-safe.
#pragma once

#include <lmdb.h>

#include <vector>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/local/storage/environment.h"

namespace gridmount::local {

class ReadPool {
 public:
  explicit ReadPool(MDB_env* env) : env_(env) {}
  // All ReadTransactions must have been destroyed, and the environment must still be open.
  ~ReadPool();
  ReadPool(const ReadPool&) = delete;
  ReadPool& operator=(const ReadPool&) = delete;

  // Begins a read transaction of the newest snapshot. Fails with LMDB's errors.
  Result<ReadTransaction> begin() GM_EXCLUDES(mutex_);

 private:
  friend class ReadTransaction;
  void release(MDB_txn* txn) GM_EXCLUDES(mutex_);

  MDB_env* const env_;
  Mutex mutex_;
  std::vector<MDB_txn*> idle_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::local
