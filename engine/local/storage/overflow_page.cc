#include "engine/local/storage/overflow_page.h"

#include <memory>

#include "engine/local/files/fault_scope.h"
#include "engine/local/format/lmdb_layout.h"
#include "engine/local/storage/ascending_cursor.h"
#include "engine/local/storage/range_cursor.h"

namespace gridmount::local {
namespace {

constexpr uint64_t kKeysPerPageMin = 2;

const uint8_t* start_of(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

// Derives where the map begins from the page of the tree's first key and the number that this page
// has. Returns 0 if the tree is empty.
uintptr_t map_by_first_key(const std::shared_ptr<Trees>& trees, MDB_dbi tree, uint64_t page_bytes) {
  RangeCursor cursor(trees, tree);
  cursor.set_range(std::string(1, '\0'), std::string(512, '\xFF'), false);
  const Result<std::optional<TreeEntry>> first = cursor.next();
  if (!first || !*first) return 0;
  const uint8_t* const key = start_of((*first)->key);
  const uint8_t* const page = key - reinterpret_cast<uintptr_t>(key) % page_bytes;
  // If the number is damaged, the result is wrong. So the caller compares the results of two trees.
  return reinterpret_cast<uintptr_t>(page) - lmdb::page_number(page) * page_bytes;
}

// Returns whether the headers of all values together claim as many pages as the tree counts.
bool do_counts_agree(const std::shared_ptr<Trees>& trees, MDB_dbi tree, uint64_t page_bytes) {
  MDB_stat stat{};
  const int code = guarded([&] { return mdb_stat(trees->txn(), tree, &stat); });
  if (code != MDB_SUCCESS) return false;
  AscendingCursor cursor(trees, tree);
  cursor.set_range(std::string(1, '\0'), std::string(512, '\xFF'));
  uint64_t pages = 0;
  while (true) {
    const Result<std::optional<TreeEntry>> entry = cursor.next();
    if (!entry) return false;
    if (!*entry) break;
    // A value directly after a page header is on overflow pages. In a leaf, the offsets of the
    // nodes follow the header.
    const uint8_t* const value = start_of((*entry)->value);
    if (reinterpret_cast<uintptr_t>(value) % page_bytes != lmdb::kPageHeaderBytes) continue;
    pages += lmdb::overflow_pages(value - lmdb::kPageHeaderBytes);
  }
  return pages == stat.ms_overflow_pages;
}

}  // namespace

OverflowPages OverflowPages::of(const std::shared_ptr<Trees>& trees, MDB_dbi tree) {
  OverflowPages pages;
  MDB_stat stat{};
  const int code = guarded([&] { return mdb_stat(trees->txn(), trees->catalog(), &stat); });
  if (code != MDB_SUCCESS) return pages;
  pages.page_bytes_ = stat.ms_psize;
  const uintptr_t by_catalog = map_by_first_key(trees, trees->catalog(), stat.ms_psize);
  if (by_catalog == map_by_first_key(trees, tree, stat.ms_psize)) pages.map_ = by_catalog;
  pages.trees_ = trees;
  pages.tree_ = tree;
  return pages;
}

void OverflowPages::count() {
  counts_agree_ = trees_ && !trees_->ended() && do_counts_agree(trees_, tree_, page_bytes_);
}

std::string OverflowPages::defect(const TreeEntry& entry) {
  if (page_bytes_ == 0) return {};
  // LMDB's rule for when a value gets overflow pages.
  const uint64_t node_bytes_max =
      ((page_bytes_ - lmdb::kPageHeaderBytes) / kKeysPerPageMin & ~uint64_t{1}) - sizeof(uint16_t);
  if (lmdb::kNodeHeaderBytes + entry.key.size() + entry.value.size() <= node_bytes_max) return {};
  const uint8_t* const page = start_of(entry.value) - lmdb::kPageHeaderBytes;
  const uint64_t pages = lmdb::overflow_pages_needed(entry.value.size(), page_bytes_);
  const uint64_t pages_held = lmdb::overflow_pages(page);
  if (pages_held > pages && !counts_agree_) count();
  const bool is_whole = lmdb::page_flags(page) == lmdb::kOverflowPage &&
                        (pages_held == pages || (pages_held > pages && *counts_agree_));
  const bool is_itself = map_ == 0 || lmdb::page_number(page) * page_bytes_ ==
                                          reinterpret_cast<uintptr_t>(page) - map_;
  if (is_whole && is_itself) return {};
  return "the header of its pages in data.mdb is damaged, so removing or replacing it would damage "
         "other data";
}

}  // namespace gridmount::local
