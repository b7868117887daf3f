// The numbers of a store's commits, and whether LMDB's map of data.mdb shows them.
//
// LMDB writes through the file and reads through its map. On a file system whose mappings do not
// follow what is written (FORMAT.md, "File systems") the map may still show the meta page that the
// last commit has replaced. A transaction that began from that would be taken for the next, and
// what was committed in between would be lost, although it was acknowledged. So a transaction
// begins only where the map shows the commit before it, and a commit is one only where the map
// shows it; else nothing is written any more.
//
// Thread-safety: begin(), committed() and follows() belong to whoever has the writers' turn, on the
// thread that has LMDB's transaction if there is one; the others are thread-safe.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstdint>

namespace gridmount::local {

class CommitSequence {
 public:
  // `map` is where data.mdb is mapped; `last` is the newest commit's number, by the file itself.
  CommitSequence(const uint8_t* map, uint32_t page_bytes, uint64_t last)
      : map_(map), page_bytes_(page_bytes), last_(last) {}

  // Begins LMDB's write transaction that follows the last commit. LMDB's code; kLmdbStale where the
  // map does not show that one.
  int begin(MDB_env* env, MDB_txn** txn);
  // After LMDB has committed the transaction `number`, which need not have changed anything.
  // kLmdbStale where the map does not show it.
  int committed(MDB_env* env, uint64_t number);
  // Whether the map shows the last commit. If not, that stays so: is_lost().
  bool follows();
  // Somebody has seen that it does not; returns kLmdbStale.
  int lose();
  bool is_lost() const { return is_lost_; }

  // Whether the map shows a meta page that has the snapshot, or a newer one in its place.
  static bool is_shown(const uint8_t* map, uint32_t page_bytes, uint64_t snapshot);

 private:
  uint64_t shown_at(uint64_t number) const;

  const uint8_t* const map_;
  const uint32_t page_bytes_;
  std::atomic<uint64_t> last_;
  std::atomic<bool> is_lost_ = false;
};

}  // namespace gridmount::local
