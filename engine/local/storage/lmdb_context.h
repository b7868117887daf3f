// What belongs to an LMDB environment beside LMDB itself, found by any of its transactions.
//
// Thread-safety: `interrupted` and `unchecked_ranges` are, and `pages` once it is set; `check` and
// `sequence` belong to whoever has the writers' turn, but for what they say of themselves.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <memory>

#include "engine/local/files/fault_scope.h"
#include "engine/local/format/lmdb_layout.h"
#include "engine/local/storage/commit_sequence.h"
#include "engine/local/storage/page_check.h"
#include "engine/local/storage/tree_reader.h"
#include "engine/local/storage/unchecked_ranges.h"

namespace gridmount::local {

struct LmdbContext {
  // A call that writes was ended by a fault (fault_scope.h). Its transaction, and the environment,
  // can be neither written to nor closed any more; reading goes on.
  std::atomic<bool> interrupted = false;
  // Set when it is opened. Of one that nothing guards (map_guard.h) there is no map.
  PageMap pages = {};
  // Null if the environment is read-only, or is still being opened.
  std::unique_ptr<PageCheck> check;
  // The same, and null where there is no map.
  std::unique_ptr<CommitSequence> sequence;
  UncheckedRanges unchecked_ranges;

  // To be told what a call that writes has returned.
  int wrote(int code) {
    if (code == kLmdbFault) interrupted = true;
    return code;
  }
};

inline LmdbContext& context_of(MDB_txn* txn) {
  return *static_cast<LmdbContext*>(mdb_env_get_userctx(mdb_txn_env(txn)));
}

// An error inside, or a fault, has left the transaction unusable.
inline bool is_broken(MDB_txn* txn) {
  if (context_of(txn).interrupted) return true;
  MDB_stat stat;
  return mdb_stat(txn, lmdb::kMainTree, &stat) != MDB_SUCCESS;
}

// LMDB's code, or kLmdbFault.
inline int commit_guarded(MDB_txn* txn) {
  LmdbContext& context = context_of(txn);
  return context.wrote(guarded([&] { return mdb_txn_commit(txn); }));
}

// Of a transaction that is nested in none. LMDB's code, or kLmdbFault, or kLmdbStale.
inline int commit_in_sequence(MDB_txn* txn) {
  MDB_env* const env = mdb_txn_env(txn);
  CommitSequence* const sequence = context_of(txn).sequence.get();
  const uint64_t number = mdb_txn_id(txn);
  const int code = commit_guarded(txn);
  if (code != MDB_SUCCESS || sequence == nullptr) return code;
  return sequence->committed(env, number);
}

// Begins one that is nested in none. LMDB's code, or kLmdbStale.
inline int begin_in_sequence(MDB_env* env, MDB_txn** txn) {
  CommitSequence* const sequence =
      static_cast<LmdbContext*>(mdb_env_get_userctx(env))->sequence.get();
  if (sequence == nullptr) return mdb_txn_begin(env, nullptr, 0, txn);
  return sequence->begin(env, txn);
}

}  // namespace gridmount::local
