// The limit for the size of data.mdb (OpenOptions::size_limit), which is a quota for the store.
//
// The number of pages that a transaction appends is known before the commit. So
// WriteQueue::commit() refuses a transaction that would exceed the limit, together with the
// transactions that share its commit. A net shrink that leads its group is exempt (W7 in
// write_queue.h): LMDB changes a page by writing a new one, so a removal at the limit needs a few
// more pages until the freed pages can be reused. A transaction that only reuses free pages is
// always allowed, even if data.mdb is already larger than the limit.
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

  // Checks that allows() can read the size of a transaction from this version of LMDB. Fails with
  // OperationFailed if this is not so, and with the error of LMDB if no write transaction can
  // begin. Succeeds if there is no limit. The calling thread must not have an LMDB write
  // transaction, because check() begins one.
  Status check() const;
  // Returns whether the limit allows the transaction to be committed. `txn` must not be a nested
  // transaction.
  bool allows(MDB_txn* txn) const;
  // Returns the SpaceReserve::Room for left() bytes: kScarce below SpaceReserve::kScarceBytes, and
  // kNone below SpaceReserve::kBytes.
  SpaceReserve::Room room() const;
  // Returns how many bytes can still be appended to data.mdb, or the largest uint64_t if there is
  // no limit.
  uint64_t left() const;

 private:
  MDB_env* const env_;
  const uint64_t bytes_;
};

}  // namespace gridmount::local
