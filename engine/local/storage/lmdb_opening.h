// Opening data.mdb with LMDB: its flags and sizes, the order of keys, and the trees of a store
// (FORMAT.md, chapter "data.mdb").
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

// StoreDamaged if data.mdb-lock is not what LMDB can use, OperationFailed where there is no room in
// the address space for the map.
Result<EnvironmentHandle> open_lmdb(const StoreFolder& folder, const OpenOptions& options);

// LMDB's handles.
struct OpenedTrees {
  MDB_dbi catalog = 0;
  std::array<MDB_dbi, Environment::kTreeCount> trees{};
};

// Opens every tree, or makes them all in one transaction if the store is new. StoreDamaged if one
// is missing.
Result<OpenedTrees> open_trees(MDB_env* env, const StoreFolder& folder);

// Each tree's name at the place of its handle.
std::vector<std::string> names_of(const OpenedTrees& handles);

}  // namespace gridmount::local
