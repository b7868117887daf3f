// Opens data.mdb with LMDB. Sets LMDB's flags, sizes and order of keys, and opens the trees of a
// store (FORMAT.md, chapter "data.mdb").
//
// Thread-safety: functions without state. Only the thread that opens the store may call open_lmdb()
// and open_trees().
#pragma once

#include <lmdb.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/files/store_folder.h"
#include "engine/local/storage/environment.h"

namespace gridmount::local {

struct EnvironmentCloser {
  void operator()(MDB_env* env) const { mdb_env_close(env); }
};
using EnvironmentHandle = std::unique_ptr<MDB_env, EnvironmentCloser>;

// Opens the environment. Fails with StoreDamaged if data.mdb-lock is not a regular file, or was
// truncated while the owner has the store open. Fails with OperationFailed if the address space has
// no room for the map. Also fails with the errors of the system and as lmdb_error() says.
Result<EnvironmentHandle> open_lmdb(const StoreFolder& folder, const OpenOptions& options);

// Returns the size of a page of data.mdb in bytes.
inline uint32_t page_bytes_of(MDB_env* env) {
  MDB_stat stat;
  mdb_env_stat(env, &stat);
  return stat.ms_psize;
}

// LMDB's handles of a store's trees.
struct OpenedTrees {
  MDB_dbi catalog = 0;
  std::array<MDB_dbi, Environment::kTreeCount> trees{};
};

// Opens all trees, or creates them in one transaction if the store is new. Fails with StoreDamaged
// if a tree is missing or damaged.
Result<OpenedTrees> open_trees(MDB_env* env, const StoreFolder& folder);

// Returns the names of the trees, indexed by their handles.
std::vector<std::string> names_of(const OpenedTrees& handles);

}  // namespace gridmount::local
