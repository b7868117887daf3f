// Walks the entries of one tree between two keys, in either direction. On a Transaction it finds
// its place again after writes.
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

// May outlive the transaction's end (next() is then an error), as it shares the Trees.
class RangeCursor {
 public:
  RangeCursor(std::shared_ptr<const Trees> trees, MDB_dbi tree);
  ~RangeCursor();
  RangeCursor(const RangeCursor&) = delete;
  RangeCursor& operator=(const RangeCursor&) = delete;

  // Begins at `low` (inclusive) and ends before `high`, or the other way round if `backward`.
  void set_range(std::string low, std::string high, bool backward);

  // From now on the range's beginning and end are proved, and that no leaf between them is left
  // out; next() is StoreDamaged where they cannot be. Of ranges with checksums.
  void set_proving() { path_.emplace(*trees_, tree_); }

  // Nothing at the end. With set_tailing() a later call looks again for what has come since.
  Result<std::optional<TreeEntry>> next();
  void set_tailing() { tailing_ = true; }

  // Of Trees: keeps the place and lets go of the transaction.
  void pause();
  // Whether the entry given last is still there; true before the first.
  Result<bool> has_place() const;

 private:
  int step(MDB_val& key, MDB_val& value);
  int first(MDB_val& key, MDB_val& value, std::string_view from, bool inclusive);
  int move(MDB_val& key, MDB_val& value, MDB_cursor_op to);
  bool in_order(std::string_view key) const;
  std::string_view last() const { return keeps_place() ? place_ : last_; }
  bool is_outside(std::string_view key) const { return backward_ ? key < low_ : key >= high_; }
  Status prove(const std::optional<TreeEntry>& found);
  // Writes may move the cursor, or their entries be waited for.
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
  // The last key given: a copy with keeps_place() and after a pause, else where it is mapped.
  std::string place_;
  std::string_view last_;
  std::optional<TreePath> path_;
};

}  // namespace gridmount::local
