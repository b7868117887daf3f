// A forward cursor for trees that may be damaged. It fails if the keys do not ascend. Otherwise a
// damaged page that leads back to an earlier one could make a reader read for ever.
//
// Not thread-safe. Used by the thread that uses its Trees.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/local/storage/range_cursor.h"

namespace gridmount::local {

class AscendingCursor {
 public:
  AscendingCursor(std::shared_ptr<const Trees> trees, MDB_dbi tree)
      : cursor_(std::move(trees), tree) {}

  // Like RangeCursor::set_range(), always forward.
  void set_range(std::string low, std::string high) {
    last_ = low;
    is_first_ = true;
    cursor_.set_range(std::move(low), std::move(high), false);
  }
  // Returns the next entry, or nothing at the end. Fails with StoreDamaged if the entry's key is
  // not greater than the previous one, or if the first key is less than the beginning of the range.
  Result<std::optional<TreeEntry>> next() {
    GM_ASSIGN(const std::optional<TreeEntry> entry, cursor_.next());
    if (entry) {
      if (entry->key < last_ || (entry->key == last_ && !is_first_)) {
        return fail(ErrorCode::kStoreDamaged,
                    "a page of data.mdb is damaged: its keys are out of order");
      }
      last_ = entry->key;
      is_first_ = false;
    }
    return entry;
  }

 private:
  RangeCursor cursor_;
  std::string last_;  // the key that was returned last; before the first one, the beginning of the
                      // range
  bool is_first_ = true;
};

}  // namespace gridmount::local
