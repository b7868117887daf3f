// The limit for the size of data.mdb (OpenOptions::size_limit), which is a quota for the store.
//
// The number of pages that a transaction appends is known before the commit. So
// WriteQueue::commit() refuses a transaction that would exceed the limit. Transactions with a net
// shrink are exempt: LMDB changes a page by writing a new one, so a removal at the limit needs a
// few more pages until the freed pages can be reused. A transaction that only reuses free pages is
// always allowed, even if the file is already larger than the limit.
//
// Thread-safety: the caller of allows() must hold the write lock. The other functions are
// thread-safe.
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

  // Fails with OperationFailed if there is a limit, but the size of a transaction of this version
  // of LMDB cannot be found out. Begins an LMDB write transaction, so this thread must not have
  // one.
  Status check() const;
  // Returns whether the limit allows the transaction to be committed. `txn` must not be nested.
  bool allows(MDB_txn* txn) const;
  // Returns the class of left() among those of SpaceReserve::Room.
  SpaceReserve::Room room() const;
  // Returns how many bytes can still be appended to data.mdb, or the largest uint64_t if there is
  // no limit.
  uint64_t left() const;

 private:
  MDB_env* const env_;
  const uint64_t bytes_;
};

}  // namespace gridmount::local
