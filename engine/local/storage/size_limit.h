// The largest size that data.mdb may have, if the owner sets a limit: a quota for the store.
//
// How many pages a transaction appends is known before the commit, so WriteQueue::commit() refuses
// a transaction that would exceed the limit. It exempts transactions with a net shrink: LMDB
// changes a page by writing a new one, so a removal at the limit needs a few pages beyond it until
// the freed pages can be reused. A transaction that only reuses free pages is always allowed, even
// if the file is larger than its limit already.
//
// Thread-safety: the caller of allows() must hold the write lock. Any thread may call the others.
#pragma once

#include <lmdb.h>

#include <cstdint>

#include "engine/base/error.h"
#include "engine/local/files/space_reserve.h"

namespace gridmount::local {

class SizeLimit {
 public:
  // If `bytes` is 0, there is no limit.
  SizeLimit(MDB_env* env, uint64_t bytes) : env_(env), bytes_(bytes) {}

  // Fails with OperationFailed if there is a limit but the transactions of this version of LMDB
  // cannot be measured. Begins a write transaction, so no other may be open on this thread.
  Status check() const;
  // Returns whether the limit allows the transaction to be committed. `txn` must not be nested.
  bool allows(MDB_txn* txn) const;
  // Returns left() as a class of SpaceReserve::Room.
  SpaceReserve::Room room() const;
  // Returns how many bytes can still be appended, or the largest number if there is no limit.
  uint64_t left() const;

 private:
  MDB_env* const env_;
  const uint64_t bytes_;
};

}  // namespace gridmount::local
