// Checks the headers of overflow pages, which hold values that are too large for a leaf. When such
// a value is removed or replaced, LMDB frees as many pages as the header says, from the page that
// the header names. So a damaged header must be detected before LMDB uses it. Source: LMDB 0.9's
// file format (mdb.c, MDB_page).
//
// If a transaction writes a value and then replaces it by a smaller one, the smaller value keeps
// all pages of the larger one (mdb.c, mdb_cursor_put). So an undamaged header may also claim more
// pages than its value needs. The tree's own count of all overflow pages shows whether such a
// header is damaged.
//
// Not thread-safe. An OverflowPages is created from one read transaction, and may be used for
// entries that any transaction of the same environment has read.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/local/storage/trees.h"

namespace gridmount::local {

class OverflowPages {
 public:
  // Derives the address of the map twice: from the page with the first key of the catalog, and from
  // the page with the first key of `tree`. If the two results differ, or one of the trees is empty,
  // the address is unknown. defect() then does not check whether the page number in a header is
  // right, and checks only the rest. If the catalog cannot be read, defect() finds nothing.
  static OverflowPages of(const std::shared_ptr<Trees>& trees, MDB_dbi tree);

  // Returns what is wrong with the header of the page on which the entry's value begins. Returns an
  // empty string if nothing is wrong or if the value is in a leaf. Must not be used for a value
  // that is not committed yet, because LMDB holds the pages of such a value outside of the map.
  std::string defect(const TreeEntry& entry);

  // Adds up the pages that all headers claim, and compares the sum with the number of overflow
  // pages in the tree's record. Reads the whole tree, in the transaction of the `trees` that of()
  // got. defect() calls count() when it first needs the result. A caller that uses defect() after
  // the end of this transaction must call count() before the end. Otherwise defect() reports every
  // header that claims more pages than its value needs.
  void count();

 private:
  uint64_t page_bytes_ = 0;
  uintptr_t map_ = 0;  // where the map begins; 0 if unknown
  std::shared_ptr<Trees> trees_;
  MDB_dbi tree_ = 0;
  std::optional<bool> counts_agree_;  // the result of count()
};

}  // namespace gridmount::local
