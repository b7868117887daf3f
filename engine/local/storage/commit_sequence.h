// Checks that LMDB's map of data.mdb shows each commit.
//
// LMDB writes through the file and reads through its map. On a file system whose mappings do not
// show what is written (FORMAT.md, "File systems"), the map may still show the meta page that the
// last commit has replaced. A transaction that began from that page would overwrite the last
// commit, which would be lost although it was acknowledged. So a transaction begins only if the map
// shows the commit before it, and a commit succeeds only if the map shows it. Otherwise nothing is
// written any more.
//
// Thread-safety: only the holder of the write lock may call begin(), committed() and follows(), on
// the thread that owns LMDB's transaction if there is one. The others are thread-safe.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstdint>

namespace gridmount::local {

class CommitSequence {
 public:
  // `map` is where data.mdb is mapped. `last` is the number of the newest commit, as read from the
  // file rather than from the map.
  CommitSequence(const uint8_t* map, uint32_t page_bytes, uint64_t last)
      : map_(map), page_bytes_(page_bytes), last_(last) {}

  // Begins an LMDB write transaction from the last commit. Returns LMDB's code, or kLmdbStale if
  // the map does not show the last commit.
  int begin(MDB_env* env, MDB_txn** txn);
  // Must be called after LMDB has committed the transaction `number`, which may have changed
  // nothing. Returns kLmdbStale if the map does not show it.
  int committed(MDB_env* env, uint64_t number);
  // Returns whether the map shows the last commit. If it does not, is_lost() returns true from then
  // on.
  bool follows();
  // Notes that the map does not show a commit. Returns kLmdbStale.
  int lose();
  bool is_lost() const { return is_lost_; }

  // Returns whether the map shows the meta page of this snapshot or of a newer one in its place.
  static bool is_shown(const uint8_t* map, uint32_t page_bytes, uint64_t snapshot);

 private:
  uint64_t shown_at(uint64_t number) const;

  const uint8_t* const map_;
  const uint32_t page_bytes_;
  std::atomic<uint64_t> last_;
  std::atomic<bool> is_lost_ = false;
};

}  // namespace gridmount::local
