// What belongs to an LMDB environment beside LMDB itself, found by any of its transactions.
//
// Thread-safety: `interrupted` and `unchecked_ranges` are, and `pages` once it is set; `check`
// belongs to whoever has the writers' turn.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <memory>

#include "engine/local/files/fault_scope.h"
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
  constexpr MDB_dbi kMainTree = 1;
  if (context_of(txn).interrupted) return true;
  MDB_stat stat;
  return mdb_stat(txn, kMainTree, &stat) != MDB_SUCCESS;
}

// LMDB's code, or kLmdbFault.
inline int commit_guarded(MDB_txn* txn) {
  LmdbContext& context = context_of(txn);
  return context.wrote(guarded([&] { return mdb_txn_commit(txn); }));
}

}  // namespace gridmount::local
