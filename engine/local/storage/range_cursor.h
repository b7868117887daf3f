// Iterates over the entries of one tree between two keys, in either direction. In a write
// transaction, the cursor finds its position again after writes.
//
// Not thread-safe. A cursor must be used by the thread that uses its Trees.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/local/storage/tree_path.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

// The cursor shares the Trees, so it may outlive the transaction. next() then fails.
class RangeCursor {
 public:
  RangeCursor(std::shared_ptr<const Trees> trees, MDB_dbi tree);
  ~RangeCursor();
  RangeCursor(const RangeCursor&) = delete;
  RangeCursor& operator=(const RangeCursor&) = delete;

  // Sets the range to [low, high). The iteration begins at `low`, or before `high` if `backward` is
  // true.
  void set_range(std::string low, std::string high, bool backward);

  // From now on next() proves that the search has found the beginning and the end of the range, and
  // that no leaf between them is left out (TreePath). If next() cannot prove this, it fails with
  // StoreDamaged. May be used only for ranges whose entries have checksums.
  void set_proving() { path_.emplace(*trees_, tree_); }

  // Returns the next entry, or nothing at the end of the range. A call after an error may return
  // nothing. After set_tailing(), a call after the end looks for entries that were added meanwhile.
  // The views are valid as trees.h says.
  Result<std::optional<TreeEntry>> next();
  void set_tailing() { tailing_ = true; }

  // Remembers the position and closes the LMDB cursor. Trees::pause() calls this.
  void pause();
  // Returns whether the entry that was returned last still exists. Returns true before the first
  // entry, and after the end of the range without set_tailing(). May be called only in a write
  // transaction, or after set_tailing() or pause().
  Result<bool> has_place() const;

 private:
  int step(MDB_val& key, MDB_val& value);
  int first(MDB_val& key, MDB_val& value, std::string_view from, bool inclusive);
  int move(MDB_val& key, MDB_val& value, MDB_cursor_op to);
  bool in_order(std::string_view key) const;
  std::string_view last() const { return keeps_place() ? place_ : last_; }
  bool is_outside(std::string_view key) const { return backward_ ? key < low_ : key >= high_; }
  Status prove(const std::optional<TreeEntry>& found);
  // Returns whether the cursor must copy the last key, because writes may move the entry or because
  // of set_tailing().
  bool keeps_place() const { return trees_->writable() || tailing_; }

  std::shared_ptr<const Trees> trees_;
  MDB_dbi tree_;
  MDB_cursor* cursor_ = nullptr;
  std::string low_;
  std::string high_;
  bool backward_ = false;
  bool tailing_ = false;

  enum class State { kBefore, kWithin, kEnd };
  State state_ = State::kEnd;
  uint64_t writes_seen_ = 0;
  // The key that was returned last. place_ is a copy, which is used if keeps_place() is true, and
  // after a pause. Otherwise last_ refers to the map.
  std::string place_;
  std::string_view last_;
  std::optional<TreePath> path_;
};

}  // namespace gridmount::local
