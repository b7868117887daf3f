#include "engine/local/storage/commit_sequence.h"

#include <sched.h>

#include "engine/local/files/lmdb_error.h"

namespace gridmount::local {
namespace {

// Within a meta page (mdb.c: MDB_page, MDB_meta).
constexpr uint64_t kTransactionOffset = 144;
// A number that is being written while it is looked at may seem to be less than it was.
constexpr int kLooks = 1000;

// The kernel may write there meanwhile.
uint64_t number_at(const uint8_t* map, uint32_t page_bytes, uint64_t number) {
  const uint8_t* const at = map + number % 2 * page_bytes + kTransactionOffset;
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(at), __ATOMIC_ACQUIRE);
}

}  // namespace

uint64_t CommitSequence::shown_at(uint64_t number) const {
  return number_at(map_, page_bytes_, number);
}

int CommitSequence::lose() {
  is_lost_ = true;
  return kLmdbStale;
}

bool CommitSequence::follows() {
  if (!is_lost_ && shown_at(last_) == last_) return true;
  lose();
  return false;
}

// Before and behind: it may be the one or the other that LMDB has seen.
int CommitSequence::begin(MDB_env* env, MDB_txn** txn) {
  *txn = nullptr;
  if (!follows()) return kLmdbStale;
  const int code = mdb_txn_begin(env, nullptr, 0, txn);
  if (code != MDB_SUCCESS) return code;
  if (mdb_txn_id(*txn) == last_ + 1 && follows()) return MDB_SUCCESS;
  mdb_txn_abort(*txn);
  *txn = nullptr;
  return lose();
}

int CommitSequence::committed(MDB_env* env, uint64_t number) {
  if (shown_at(number) == number) {
    last_ = number;
    return MDB_SUCCESS;
  }
  // A transaction that has changed nothing leaves its number to the next. LMDB counts them in its
  // table of readers, so that the next one's number tells without the map.
  MDB_txn* next = nullptr;
  if (mdb_txn_begin(env, nullptr, 0, &next) != MDB_SUCCESS) return lose();
  const uint64_t next_number = mdb_txn_id(next);
  mdb_txn_abort(next);
  return next_number == number ? MDB_SUCCESS : lose();
}

bool CommitSequence::is_shown(const uint8_t* map, uint32_t page_bytes, uint64_t snapshot) {
  for (int i = 0; i < kLooks; ++i) {
    if (number_at(map, page_bytes, snapshot) >= snapshot) return true;
    ::sched_yield();
  }
  return false;
}

}  // namespace gridmount::local
