// Checks the headers of overflow pages, which hold values that are too large for a leaf. When such
// a value is removed or replaced, LMDB frees as many pages as the header says, from the page that
// the header names. So a damaged header must be detected before LMDB uses it. Source: LMDB 0.9's
// file format (mdb.c, MDB_page).
//
// If a value replaces a larger one within one transaction, it keeps all pages of the larger one
// (mdb.c, mdb_cursor_put). So a header may rightly claim more pages than its value needs. Whether
// such a header is right or damaged follows from the tree's own count of all overflow pages.
//
// Not thread-safe. Created from one read transaction, and usable for entries that any transaction
// of the same environment has read.
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
  // Derives the address of the map from a page of the catalog and from one of `tree`. If the two
  // disagree, or the trees are empty, the numbers of overflow pages are not checked.
  static OverflowPages of(const std::shared_ptr<Trees>& trees, MDB_dbi tree);

  // Returns what is wrong with the header of the page on which the entry's value begins. Returns an
  // empty string if nothing is wrong or if the value is in a leaf. Must not be used for values that
  // the transaction itself has written.
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
