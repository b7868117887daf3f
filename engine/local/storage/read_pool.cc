#include "engine/local/storage/read_pool.h"

#include "engine/local/files/lmdb_error.h"

namespace gridmount::local {

ReadPool::~ReadPool() {
  for (MDB_txn* txn : idle_) mdb_txn_abort(txn);
}

Result<ReadTransaction> ReadPool::begin() {
  MDB_txn* txn = nullptr;
  {
    MutexLock lock(mutex_);
    if (!idle_.empty()) {
      txn = idle_.back();
      idle_.pop_back();
    }
  }
  if (txn == nullptr) {
    const int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
    if (code != MDB_SUCCESS) return fail(lmdb_error(code, "beginning to read the store"));
  } else if (const int code = mdb_txn_renew(txn); code != MDB_SUCCESS) {
    mdb_txn_abort(txn);
    return fail(lmdb_error(code, "beginning to read the store"));
  }
  return ReadTransaction(this, txn);
}

void ReadPool::release(MDB_txn* txn) {
  mdb_txn_reset(txn);
  MutexLock lock(mutex_);
  idle_.push_back(txn);
}

ReadTransaction::~ReadTransaction() {
  if (txn_ != nullptr) pool_->release(txn_);
}

}  // namespace gridmount::local
