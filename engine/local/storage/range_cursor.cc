#include "engine/local/storage/range_cursor.h"

#include <utility>

#include "engine/local/files/fault_scope.h"
#include "engine/local/storage/lmdb_context.h"

namespace gridmount::local {

RangeCursor::RangeCursor(std::shared_ptr<const Trees> trees, MDB_dbi tree)
    : trees_(std::move(trees)), tree_(tree), writes_seen_(trees_->writes()) {
  trees_->enroll(this);
}

RangeCursor::~RangeCursor() {
  trees_->dismiss(this);
  if (cursor_ == nullptr) return;
  // LMDB closes the cursors of a write transaction at its end, and never those of a read
  // transaction. After an interrupted call, a write transaction must not be touched any more.
  if (trees_->writable() && (trees_->ended() || context_of(trees_->txn()).interrupted)) return;
  mdb_cursor_close(cursor_);
}

void RangeCursor::pause() {
  if (cursor_ == nullptr) return;
  if (state_ == State::kWithin && !keeps_place()) place_ = last_;
  mdb_cursor_close(cursor_);
  cursor_ = nullptr;
}

Result<bool> RangeCursor::has_place() const {
  if (state_ != State::kWithin) return true;
  GM_ASSIGN(const std::optional<std::string_view> value, trees_->get(tree_, place_));
  return value.has_value();
}

void RangeCursor::set_range(std::string low, std::string high, bool backward) {
  low_ = std::move(low);
  high_ = std::move(high);
  backward_ = backward;
  state_ = low_ < high_ ? State::kBefore : State::kEnd;
}

int RangeCursor::move(MDB_val& key, MDB_val& value, MDB_cursor_op to) {
  value = MDB_val{};
  return plausible(guarded([&] { return mdb_cursor_get(cursor_, &key, &value, to); }), value);
}

// Moves to the first entry from the key `from` on, in the cursor's direction.
int RangeCursor::first(MDB_val& key, MDB_val& value, std::string_view from, bool inclusive) {
  key = to_mdb(from);
  int code = move(key, value, MDB_SET_RANGE);
  if (!backward_) {
    if (code == MDB_SUCCESS && !inclusive && from_mdb(key) == from) {
      code = move(key, value, MDB_NEXT);
    }
    return code;
  }
  // Backward, `from` is always exclusive: it is the upper bound, or the place before a write.
  if (code == MDB_NOTFOUND) return move(key, value, MDB_LAST);
  if (code != MDB_SUCCESS) return code;
  return move(key, value, MDB_PREV);
}

int RangeCursor::step(MDB_val& key, MDB_val& value) {
  const bool moved = trees_->writes() != writes_seen_;
  writes_seen_ = trees_->writes();
  if (state_ == State::kBefore) return first(key, value, backward_ ? high_ : low_, true);
  if (moved) {
    if (!keeps_place()) last_ = place_;
    return first(key, value, place_, false);
  }
  return move(key, value, backward_ ? MDB_PREV : MDB_NEXT);
}

// Checks that the key follows the last one in the cursor's direction, because a damaged page may
// lead anywhere, even in a circle.
bool RangeCursor::in_order(std::string_view key) const {
  if (state_ == State::kBefore) return backward_ ? key < high_ : key >= low_;
  return backward_ ? key < last() : key > last();
}

Status RangeCursor::prove(const std::optional<TreeEntry>& found) {
  // If the range is empty, this proof also proves its end.
  if (state_ == State::kBefore) return path_->prove(backward_ ? high_ : low_, found, backward_);
  if (found && !is_outside(found->key)) return path_->follow(last(), found->key, backward_);
  return path_->prove_end(last(), backward_ ? low_ : high_, found, backward_);
}

Result<std::optional<TreeEntry>> RangeCursor::next() {
  if (state_ == State::kEnd) return std::optional<TreeEntry>();
  GM_TRY(trees_->readable());
  if (cursor_ == nullptr) {
    const int code = guarded([&] { return mdb_cursor_open(trees_->txn(), tree_, &cursor_); });
    if (code != MDB_SUCCESS) {
      state_ = State::kEnd;
      return trees_->read_failed(code);
    }
  }
  MDB_val key;
  MDB_val value;
  int code = step(key, value);
  if (code == MDB_SUCCESS && !in_order(from_mdb(key))) code = MDB_CORRUPTED;
  if (code != MDB_SUCCESS && code != MDB_NOTFOUND) {
    state_ = State::kEnd;
    return trees_->read_failed(code);
  }
  const bool needs_proof =
      path_ && (code != MDB_SUCCESS || state_ == State::kBefore || is_outside(from_mdb(key)) ||
                !path_->is_in_same_leaf(last(), from_mdb(key)));
  if (needs_proof) {
    std::optional<TreeEntry> found;
    if (code == MDB_SUCCESS) found = TreeEntry{from_mdb(key), from_mdb(value)};
    if (Status proved = prove(found); !proved) {
      state_ = State::kEnd;
      return fail(std::move(proved).error());
    }
  }
  if (code == MDB_NOTFOUND || is_outside(from_mdb(key))) {
    if (!tailing_) {
      state_ = State::kEnd;
    } else if (state_ == State::kWithin) {
      // The LMDB cursor may now stand beyond the range, so make the next call search from the
      // place.
      writes_seen_ = trees_->writes() - 1;
    }
    return std::optional<TreeEntry>();
  }
  state_ = State::kWithin;
  if (keeps_place()) {
    place_ = from_mdb(key);
  } else {
    last_ = from_mdb(key);
  }
  return std::optional(TreeEntry{from_mdb(key), from_mdb(value)});
}

}  // namespace gridmount::local
