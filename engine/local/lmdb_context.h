// What belongs to an LMDB environment beside LMDB itself, found by any of its transactions.
//
// Thread-safety: `interrupted` is; `check` belongs to whoever has the writers' turn.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <memory>

#include "engine/local/fault_scope.h"
#include "engine/local/page_check.h"

namespace gridmount::local {

struct LmdbContext {
  // A call that writes was ended by a fault (fault_scope.h). Its transaction, and the environment,
  // can be neither written to nor closed any more; reading goes on.
  std::atomic<bool> interrupted = false;
  // Null if the environment is read-only, or is still being opened.
  std::unique_ptr<PageCheck> check;

  // To be told what a call that writes has returned.
  int wrote(int code) {
    if (code == kLmdbFault) interrupted = true;
    return code;
  }
};

inline LmdbContext& context_of(MDB_txn* txn) {
  return *static_cast<LmdbContext*>(mdb_env_get_userctx(mdb_txn_env(txn)));
}

}  // namespace gridmount::local
