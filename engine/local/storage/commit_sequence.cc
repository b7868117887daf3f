#include "engine/local/storage/commit_sequence.h"

#include <sched.h>

#include "engine/local/files/lmdb_error.h"

namespace gridmount::local {
namespace {

// The offset of the transaction number in a meta page (mdb.c: MDB_page, MDB_meta).
constexpr uint64_t kTransactionOffset = 144;
// How often is_shown() reads the number. While the number is being written, a read may return less
// than the old number.
constexpr int kLooks = 1000;

// Reads the number by an atomic load, because the kernel may be writing it.
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

// Checks the map both before and after LMDB has begun, because LMDB reads the map in between.
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
  // If a transaction has changed nothing, LMDB gives its number to the next transaction. LMDB takes
  // the next number from its table of readers, so this number is right even if the map is not.
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
