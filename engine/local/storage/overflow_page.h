// The header of the pages that hold a value too large for a leaf. LMDB believes it when the value
// is removed or replaced: it frees as many pages as the header says, from the page it says. So a
// damaged one must be seen before. Source: LMDB 0.9's file format (mdb.c, MDB_page).
//
// A value that took a larger one's place within one transaction keeps all of its pages (mdb.c,
// mdb_cursor_put). Whether more pages than needed are such a rest or damage is told by the number
// that the tree has of them all.
//
// Thread-safety: none; made once from a reading transaction, used with any of its environment.
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
  // Where the map begins is told by the pages of the catalog and of the range's tree; if they
  // disagree, or have nothing, the pages' numbers are not looked at.
  static OverflowPages of(const std::shared_ptr<Trees>& trees, MDB_dbi tree);

  // What is wrong with the header of the page the entry's value begins on; empty if nothing is, or
  // if the value stands in a leaf. Not for values that the transaction itself has written.
  std::string defect(const TreeEntry& entry);

  // Compares the number of all pages with the tree's, which reads the whole tree. Done when first
  // wanted, so it is for who goes on when the transaction has ended: from then on it cannot be.
  void count();

 private:
  uint64_t page_bytes_ = 0;
  uintptr_t map_ = 0;  // where it begins; 0: not known
  std::shared_ptr<Trees> trees_;
  MDB_dbi tree_ = 0;
  std::optional<bool> counts_agree_;  // the pages of all values with the tree's number
};

}  // namespace gridmount::local
