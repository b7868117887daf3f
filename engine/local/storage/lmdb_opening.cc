#include "engine/local/storage/lmdb_opening.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/log.h"
#include "engine/local/files/fault_scope.h"
#include "engine/local/files/lmdb_error.h"
#include "engine/local/format/lmdb_layout.h"
#include "engine/local/storage/trees.h"
#include "engine/system/system_error.h"

namespace gridmount::local {
namespace {

constexpr unsigned kReadersMax = 4096;
constexpr uint64_t kMapBytesMin = uint64_t{1} << 30;

// LMDB calls this function when one of its assertions fails. LMDB aborts the process when the
// function returns, because it could otherwise write the damage to the file. Within a fault scope
// the function does not return.
void report_assertion(MDB_env* env, const char* message) {
  leave_fault_scope();
  const char* path = nullptr;
  mdb_env_get_path(env, &path);
  log::critical("{} is damaged, and LMDB cannot continue ({}); restore it from a backup",
                path == nullptr ? "data.mdb" : path, message);
  log::flush();
}

// Compares keys in LMDB's own order, and ends a search that compares too many keys.
int compare_keys(const MDB_val* a, const MDB_val* b) {
  if (current_fault_scope != nullptr && --current_fault_scope->comparisons_left < 0) {
    leave_fault_scope();
  }
  const int bytes = std::memcmp(a->mv_data, b->mv_data, std::min(a->mv_size, b->mv_size));
  if (bytes != 0) return bytes;
  return a->mv_size < b->mv_size ? -1 : static_cast<int>(a->mv_size > b->mv_size);
}

// Tries to open the environment with a map of this size. Returns LMDB's code, and sets `env` on
// MDB_SUCCESS.
int try_open_lmdb(const StoreFolder& folder, uint64_t map_bytes, EnvironmentHandle& env) {
  MDB_env* raw = nullptr;
  if (const int code = mdb_env_create(&raw); code != MDB_SUCCESS) return code;
  EnvironmentHandle created(raw);
  // A writer, and a reader beside it, need LMDB's table of readers, so that the writer reuses no
  // page that a reader needs. If all processes only read, no page is reused, so they do not need
  // the table, and they must not write it.
  unsigned flags = MDB_NOSUBDIR | MDB_NOTLS | (folder.read_only() ? MDB_RDONLY : MDB_NOSYNC);
  if (folder.read_only() && !folder.beside()) flags |= MDB_NOLOCK;
  int code = mdb_env_set_assert(raw, report_assertion);
  if (code == MDB_SUCCESS) code = mdb_env_set_mapsize(raw, map_bytes);
  if (code == MDB_SUCCESS) code = mdb_env_set_maxdbs(raw, Environment::kTreeCount + 1);
  if (code == MDB_SUCCESS) code = mdb_env_set_maxreaders(raw, kReadersMax);
  if (code == MDB_SUCCESS) code = mdb_env_open(raw, folder.data_path().c_str(), flags, 0600);
  if (code == MDB_SUCCESS) env = std::move(created);
  return code;
}

// Checks data.mdb-lock before LMDB opens it. LMDB would blame data.mdb for a defect of
// data.mdb-lock, or would wait for ever.
Status check_lock_file(const StoreFolder& folder) {
  if (folder.read_only() && !folder.beside()) return {};
  const std::string name = "store " + folder.path().string() + ": its file data.mdb-lock ";
  struct stat status {};
  if (::stat(folder.lock_path().c_str(), &status) != 0) return {};
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kStoreDamaged,
                name + "is not a regular file; remove it, and it is created again");
  }
  if (folder.beside() && status.st_size == 0) {
    return fail(ErrorCode::kStoreDamaged, name +
                                              "was truncated while its owner has the store open; "
                                              "close the store there, then open it again");
  }
  if (::access(folder.lock_path().c_str(), R_OK | W_OK) == 0) return {};
  return fail(system::system_error(errno, "opening " + folder.lock_path().string()));
}

}  // namespace

Result<EnvironmentHandle> open_lmdb(const StoreFolder& folder, const OpenOptions& options) {
  GM_TRY(check_lock_file(folder));
  const std::string doing = "opening " + folder.data_path().string();
  const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  uint64_t map_bytes = std::max(options.map_bytes / page_bytes, uint64_t{16}) * page_bytes;
  GM_ASSIGN(const uint64_t file_bytes, folder.data().size());
  // If the process's address space is limited (ulimit -v, sanitizers), try smaller maps, as long as
  // the store can grow in them.
  const uint64_t map_bytes_min = std::max(2 * file_bytes, kMapBytesMin);
  EnvironmentHandle env;
  int code = try_open_lmdb(folder, map_bytes, env);
  while (code == ENOMEM && map_bytes / 2 >= map_bytes_min) {
    map_bytes = map_bytes / 2 / page_bytes * page_bytes;
    code = try_open_lmdb(folder, map_bytes, env);
  }
  if (code == ENOMEM) {
    return fail(ErrorCode::kOperationFailed,
                doing + ": " + std::to_string(map_bytes) +
                    " bytes of address space cannot be reserved; raise 'ulimit -v'");
  }
  if (code != MDB_SUCCESS) return fail(lmdb_error(code, doing));
  return env;
}

std::vector<std::string> names_of(const OpenedTrees& handles) {
  std::vector<std::string> names;
  const auto name = [&](MDB_dbi handle, std::string text) {
    if (names.size() <= handle) names.resize(handle + 1);
    names[handle] = std::move(text);
  };
  name(handles.catalog, "catalog");
  for (int i = 0; i < Environment::kTreeCount; ++i) {
    name(handles.trees[static_cast<size_t>(i)], tree_name(i));
  }
  return names;
}

Result<OpenedTrees> open_trees(MDB_env* env, const StoreFolder& folder) {
  const std::string doing = "opening the trees of " + folder.data_path().string();
  const bool create = folder.is_new();
  MDB_txn* txn = nullptr;
  int code = mdb_txn_begin(env, nullptr, create ? 0 : MDB_RDONLY, &txn);
  if (code != MDB_SUCCESS) return fail(lmdb_error(code, doing));
  OpenedTrees handles;
  (void)mdb_set_compare(txn, lmdb::kMainTree, compare_keys);
  for (int i = -1; i < Environment::kTreeCount; ++i) {
    const std::string name = i < 0 ? "catalog" : tree_name(i);
    MDB_dbi& handle = i < 0 ? handles.catalog : handles.trees[static_cast<size_t>(i)];
    code =
        guarded([&] { return mdb_dbi_open(txn, name.c_str(), create ? MDB_CREATE : 0, &handle); });
    unsigned tree_flags = 0;
    if (code == MDB_SUCCESS) code = mdb_dbi_flags(txn, handle, &tree_flags);
    if (code == MDB_SUCCESS && tree_flags != 0) code = MDB_INCOMPATIBLE;
    if (code == MDB_SUCCESS) code = mdb_set_compare(txn, handle, compare_keys);
    if (code == MDB_SUCCESS) continue;
    mdb_txn_abort(txn);
    if (code == MDB_NOTFOUND || code == MDB_INCOMPATIBLE) {
      return fail(ErrorCode::kStoreDamaged,
                  "store " + folder.path().string() + " is damaged: its tree '" + name +
                      "' is missing or damaged; restore it from a backup");
    }
    return fail(lmdb_error(code, doing));
  }
  // Commit even a read transaction: aborting it would close the handles.
  code = mdb_txn_commit(txn);
  if (code != MDB_SUCCESS) return fail(lmdb_error(code, doing));
  return handles;
}

}  // namespace gridmount::local
