// Checks that LMDB's map of data.mdb shows each commit.
//
// LMDB writes the file with system calls and reads it through its map. On a file system whose
// mappings do not show new writes (FORMAT.md, "File systems"), the map may still show a meta page
// that is older than the last commit. A transaction that begins from such a page would overwrite
// the last commit, although the writer of that commit was told that it had succeeded. So an LMDB
// transaction begins only if the map shows the last commit, and its commit succeeds only if the map
// shows the new commit. Otherwise nothing is written any more.
//
// Thread-safety: only the holder of the write lock may call begin(), committed() and follows(). If
// there is an LMDB write transaction, only its thread may call them. The other functions are
// thread-safe.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstdint>

namespace gridmount::local {

class CommitSequence {
 public:
  // `map` is the address of the map of data.mdb. `last` is the number of the newest commit, which
  // must have been read from the file and not from the map.
  CommitSequence(const uint8_t* map, uint32_t page_bytes, uint64_t last)
      : map_(map), page_bytes_(page_bytes), last_(last) {}

  // Begins an LMDB write transaction from the last commit. Returns LMDB's code, or kLmdbStale if
  // the map does not show the last commit.
  int begin(MDB_env* env, MDB_txn** txn);
  // Must be called after LMDB has committed the transaction `number`, even if the transaction has
  // changed nothing. Returns MDB_SUCCESS, or kLmdbStale if the map does not show the commit.
  int committed(MDB_env* env, uint64_t number);
  // Returns whether the map shows the last commit. If the map does not show it, is_lost() returns
  // true from then on. Returns false if is_lost().
  bool follows();
  // Records that the map does not show a commit: is_lost() then returns true. Returns kLmdbStale.
  int lose();
  bool is_lost() const { return is_lost_; }

  // Returns whether the map shows the meta page of this snapshot, or a newer meta page that has
  // replaced it.
  static bool is_shown(const uint8_t* map, uint32_t page_bytes, uint64_t snapshot);

 private:
  uint64_t shown_at(uint64_t number) const;

  const uint8_t* const map_;
  const uint32_t page_bytes_;
  std::atomic<uint64_t> last_;
  std::atomic<bool> is_lost_ = false;
};

}  // namespace gridmount::local
