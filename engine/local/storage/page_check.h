// Checks the pages that a write will change, before LMDB changes them. LMDB trusts the numbers in a
// page and moves bytes as they say. A damaged page would make LMDB overwrite other memory, free
// pages that are in use, or commit more damage.
//
// The checked pages are those of the snapshot from which the transaction began. Pages that the
// transaction itself has written are not checked, because they were made from checked pages. Each
// page on the path to the key must have its own page number, entries that follow each other within
// the page, and keys within the bounds that its parent sets. The tree must have the depth in its
// record. If a removal may make LMDB merge pages, the neighbours are checked in the same way. If a
// large value is replaced or removed, the header of its overflow pages is checked.
//
// A value that replaces a larger one within one transaction keeps all pages of the larger one
// (mdb.c, mdb_cursor_put). So a header that claims more pages than its value needs may be sound or
// damaged. When the check meets the first such header in a tree, it adds up the pages of all values
// of the tree, and compares the sum with the tree's count.
//
// The check does not detect changed bytes in a key or a value if the first and the last key of the
// page are within the bounds. Checksums of records and entries detect these.
//
// Not thread-safe, except for has_missed_snapshot(). Only the holder of the write lock may use the
// environment's PageCheck.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/format/tree_page.h"

namespace gridmount::local {

class PageCheck {
 public:
  // `map` is the address of the map of data.mdb. `tree_names` has the name of each tree at the
  // position of its MDB_dbi. A name is empty if the MDB_dbi is not used.
  PageCheck(const uint8_t* map, uint32_t page_bytes, std::vector<std::string> tree_names);

  // Each of these functions must be called before the corresponding call of LMDB in the write
  // transaction `txn`. They fail with StoreDamaged if a page or the entry of the tree is damaged.
  // The message names the page and its defect, or the tree. before_clear() reads the whole tree.
  Status before_put(MDB_txn* txn, MDB_dbi tree, std::string_view key);
  Status before_remove(MDB_txn* txn, MDB_dbi tree, std::string_view key);
  Status before_clear(MDB_txn* txn, MDB_dbi tree);

  // Returns whether a check has failed because the meta page of its snapshot is invalid or
  // describes another snapshot. LMDB would begin its next transaction from that page, so nothing
  // may be written any more. Thread-safe.
  bool has_missed_snapshot() const { return has_missed_snapshot_; }

  // Checks that the snapshot's list of free pages is well formed and has each page only once.
  // LMDB's later changes preserve this. Reads the whole list, eight bytes for each free page. Must
  // be called before all other checks.
  Status free_pages(uint64_t snapshot);
  // Reads the snapshot's meta page, unless this object has read it already. Fails with StoreDamaged
  // if the page no longer exists: the second commit after the snapshot overwrites it.
  Status finds(uint64_t snapshot) { return begin(snapshot); }
  // Checks the pages of all trees, except overflow pages. Fails with StoreDamaged if a page is
  // damaged. Also fails as finds() does. A read transaction of the snapshot must be open.
  Status all_trees(uint64_t snapshot);

 private:
  using Holds = TreePage::Holds;

  // Keys must be within [low, high). A bound without data does not limit them.
  struct Bounds {
    std::string_view low;
    std::string_view high;
  };
  struct Tree {
    std::string_view name;
    Holds holds = Holds::kValues;
    uint64_t root = lmdb::kNoPage;
    unsigned depth = 0;
    uint64_t value_pages = 0;  // the tree's count of overflow pages
  };
  // What the checks have found out about a tree in the snapshot `of`.
  struct Checked {
    uint64_t of = 0;
    Tree tree;
    bool has_puts = false;
    // For each leaf, an upper bound of the bytes that were removed from it. The map is not used
    // after the first put. When it has too many leaves, it is cleared, `are_many` becomes true, and
    // the map is not used any more.
    std::unordered_map<uint64_t, uint64_t> removed_bytes;
    bool are_many = false;
    uint64_t joins = 0;  // an upper bound of how many leaves LMDB has merged
    // The leaf that was found last, and the bounds of its keys.
    const uint8_t* leaf = nullptr;
    Bounds bounds;
  };
  // A branch on the path to the key, and the child with which the path continues.
  struct Step {
    uint64_t page = 0;
    size_t child = 0;
    Bounds bounds;
  };
  using LeafNode = std::function<Status(const TreePage::Node&)>;

  Status begin(uint64_t snapshot);
  Result<Tree> tree_of(std::string_view name);
  Result<Checked*> checked(MDB_txn* txn, MDB_dbi tree);
  Status find_leaf(Checked& checked, std::string_view key, std::vector<Step>& way);
  static bool counts_leaves(const Checked& checked) {
    return !checked.has_puts && !checked.are_many;
  }
  // Returns true if LMDB will certainly not merge the leaf after `removed_bytes` more bytes are
  // removed from it.
  bool stays_full(Checked& checked, uint64_t removed_bytes) const;
  Status neighbours(Checked& checked, const std::vector<Step>& way);
  Status large_value(const Checked& checked, std::string_view key);
  Status value_pages(const Tree& tree, const TreePage::Node& node);
  // Checks that the headers of all large values together claim as many pages as the tree counts.
  // Reads the whole tree, but only once for each tree, because LMDB keeps both numbers correct
  // afterwards.
  Status value_counts(const Tree& tree);
  // Checks one page of the tree and its bounds. The root is at level 1.
  Status page(const Tree& tree, uint64_t number, size_t level, const Bounds& bounds);
  // Checks this page and all pages below it.
  Status pages_below(const Tree& tree, uint64_t number, size_t level, const Bounds& bounds,
                     const LeafNode& leaf_node);
  Status whole(const Tree& tree, const LeafNode& leaf_node);

  TreePage at(uint64_t number) const { return {map_ + number * page_bytes_, page_bytes_}; }
  Error damaged(const Tree& tree, uint64_t number, std::string_view what) const;

  const uint8_t* const map_;
  const uint32_t page_bytes_;
  const std::vector<std::string> tree_names_;

  uint64_t snapshot_ = 0;
  std::atomic<bool> has_missed_snapshot_ = false;
  uint64_t last_page_ = 0;
  Tree main_;
  Tree free_;
  std::vector<Checked> checked_;                // indexed by MDB_dbi
  std::vector<Step> way_;                       // a member to reuse its memory
  std::set<std::string, std::less<>> counted_;  // names of the trees that value_counts() has passed
  // For each page of the first snapshot that was checked: true if the entries of the page are
  // sound, because they were checked, or because the page was free. A free page is written anew
  // before it is in use again. Pages after the vector's end were written later, so they are sound
  // too.
  std::vector<bool> sound_;
};

}  // namespace gridmount::local
