// A forward cursor for trees that may be damaged. Keys that do not ascend are an error, so that a
// damaged page which leads in a circle cannot keep a reader busy for ever.
//
// Not thread-safe. It is bound to its Trees, as a RangeCursor is.
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

  // See RangeCursor::set_range(). Always forward.
  void set_range(std::string low, std::string high) {
    last_ = low;
    is_first_ = true;
    cursor_.set_range(std::move(low), std::move(high), false);
  }
  // Returns the next entry, or nothing at the end. Fails with StoreDamaged if the entry's key is
  // not above the one before, or if the first key is below the range.
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
  std::string last_;  // the last key returned; the range's beginning before the first
  bool is_first_ = true;
};

}  // namespace gridmount::local
