// Checks the headers of overflow pages, which hold values that are too large for a leaf. When such
// a value is removed or replaced, LMDB frees as many pages as the header says, from the page that
// the header names. So a damaged header must be detected before LMDB uses it. Source: LMDB 0.9's
// file format (mdb.c, MDB_page).
//
// If a value replaces a larger one within one transaction, it keeps all pages of the larger one
// (mdb.c, mdb_cursor_put). So an undamaged header may also claim more pages than its value needs.
// The tree's own count of all overflow pages shows whether such a header is damaged.
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
  // Computes the address of the map from a page of the catalog and from a page of `tree`. If the
  // two addresses differ, or one of the trees is empty, defect() does not check the numbers of
  // pages. If the catalog cannot be read, defect() finds nothing.
  static OverflowPages of(const std::shared_ptr<Trees>& trees, MDB_dbi tree);

  // Returns what is wrong with the header of the page on which the entry's value begins. Returns an
  // empty string if nothing is wrong or if the value is in a leaf. Must not be used for values that
  // a write transaction has written itself.
  std::string defect(const TreeEntry& entry);

  // Compares the sum of all headers with the tree's count, which reads the whole tree. defect()
  // calls this when it first needs the result. It needs the transaction of `trees`, so a caller
  // that uses defect() after the end of that transaction must call count() before the end.
  void count();

 private:
  uint64_t page_bytes_ = 0;
  uintptr_t map_ = 0;  // where the map begins; 0 if unknown
  std::shared_ptr<Trees> trees_;
  MDB_dbi tree_ = 0;
  std::optional<bool> counts_agree_;  // the result of count()
};

}  // namespace gridmount::local
