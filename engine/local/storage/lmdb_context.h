// Our own data about an LMDB environment. context_of() finds it from the environment or from any of
// its transactions.
//
// Thread-safety: any thread may use `interrupted`, `write_interrupted` and `unchecked_keyspaces`,
// and may read `pages` when it is set. Only the holder of the write lock may use `check` and
// `sequence`, except for the functions that their headers call thread-safe.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <memory>

#include "engine/local/files/fault_scope.h"
#include "engine/local/format/lmdb_layout.h"
#include "engine/local/storage/commit_sequence.h"
#include "engine/local/storage/page_check.h"
#include "engine/local/storage/tree_reader.h"
#include "engine/local/storage/unchecked_keyspaces.h"

namespace gridmount::local {

struct LmdbContext {
  // A fault has interrupted a call that writes (fault_scope.h), or a thread has found that LMDB's
  // table of readers is lost. After this, nothing may be written, and neither the transaction nor
  // the environment may be closed. Reads are still allowed after a fault, but not without the
  // table.
  std::atomic<bool> interrupted = false;
  // A fault has interrupted a call that writes, and the caller had the write lock. `interrupted` is
  // then set too.
  std::atomic<bool> write_interrupted = false;
  // Set when the environment is opened. PageMap::begin is null if no MapGuard guards the map of
  // data.mdb (map_guard.h).
  PageMap pages = {};
  // Null if the environment is read-only, is still being opened, or has no map in `pages`.
  std::unique_ptr<PageCheck> check;
  // Null in the same cases as `check`.
  std::unique_ptr<CommitSequence> sequence;
  UncheckedKeyspaces unchecked_keyspaces;

  // Must be called with the code of every call of LMDB that writes. Returns the code.
  int wrote(int code) {
    if (code == kLmdbFault) interrupted = write_interrupted = true;
    return code;
  }
};

inline LmdbContext& context_of(MDB_env* env) {
  return *static_cast<LmdbContext*>(mdb_env_get_userctx(env));
}
inline LmdbContext& context_of(MDB_txn* txn) {
  return context_of(mdb_txn_env(txn));
}

// Returns whether an error inside LMDB, or a fault, has made the transaction unusable.
inline bool is_broken(MDB_txn* txn) {
  if (context_of(txn).interrupted) return true;
  MDB_stat stat;
  return mdb_stat(txn, lmdb::kMainTree, &stat) != MDB_SUCCESS;
}

// Commits a transaction. Returns LMDB's code, or kLmdbFault.
inline int commit_guarded(MDB_txn* txn) {
  LmdbContext& context = context_of(txn);
  return context.wrote(guarded([&] { return mdb_txn_commit(txn); }));
}

// Commits a transaction that is not nested. Returns LMDB's code, kLmdbFault or kLmdbStale.
inline int commit_in_sequence(MDB_txn* txn) {
  MDB_env* const env = mdb_txn_env(txn);
  CommitSequence* const sequence = context_of(txn).sequence.get();
  const uint64_t number = mdb_txn_id(txn);
  const int code = commit_guarded(txn);
  if (code != MDB_SUCCESS || sequence == nullptr) return code;
  return sequence->committed(env, number);
}

// Begins a write transaction that is not nested. Returns LMDB's code, or kLmdbStale.
inline int begin_in_sequence(MDB_env* env, MDB_txn** txn) {
  CommitSequence* const sequence = context_of(env).sequence.get();
  if (sequence == nullptr) return mdb_txn_begin(env, nullptr, 0, txn);
  return sequence->begin(env, txn);
}

}  // namespace gridmount::local
