// The most that data.mdb may hold, if its owner is given a limit: a quota of the store's.
//
// What a transaction appends is known before it is committed, so it is refused then, but for one
// that leaves less than there was: LMDB changes pages by writing new ones, so that a removal at the
// limit needs a few pages beyond it until those it has freed can be reused. A transaction that
// reuses free pages alone is always allowed, also where the file is larger than its limit already.
//
// Thread-safety: allows() is to be called with the writers' turn held, the others by any thread.
#pragma once

#include <lmdb.h>

#include <cstdint>

#include "engine/base/error.h"
#include "engine/local/files/space_reserve.h"

namespace gridmount::local {

class SizeLimit {
 public:
  // `bytes` 0: there is none.
  SizeLimit(MDB_env* env, uint64_t bytes) : env_(env), bytes_(bytes) {}

  // OperationFailed if there is a limit, and LMDB is one whose transactions cannot be measured.
  Status check() const;
  // Whether the store may hold what the transaction, which is no nested one, has made of it.
  bool allows(MDB_txn* txn) const;
  // Of what can still be appended.
  SpaceReserve::Room room() const;
  // Bytes that can still be appended; the largest number without a limit.
  uint64_t left() const;

 private:
  MDB_env* const env_;
  const uint64_t bytes_;
};

}  // namespace gridmount::local
