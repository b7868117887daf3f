// Checks the pages that a write is going to change before LMDB changes them. LMDB trusts their
// contents and moves bytes accordingly. A damaged page would make it overwrite foreign memory, free
// pages that are in use, or commit more damage.
//
// The checked pages are those of the snapshot from which the transaction began. Pages that the
// transaction has written since are not checked: it made them from pages that it had checked. Each
// page on the path to the key must have its own number, entries that lie side by side within it,
// and keys within the bounds that its parent sets. The tree must be as deep as its record says. If
// a removal may make LMDB merge pages, the neighbours are checked in the same way. If a large value
// is replaced or removed, the header of its overflow pages is checked.
//
// If a value replaces a larger one within one transaction, it keeps all pages of the larger one
// (mdb.c, mdb_cursor_put). A damaged header can claim too many pages as well. So when a write first
// meets a value with more pages than it needs, the check adds up the pages of all values of that
// tree and compares the sum with the tree's count.
//
// Not detected: a key or value whose bytes have changed, as long as the first and last key of the
// page are in bounds. Records have checksums for that.
//
// Not thread-safe, except for has_missed_snapshot(). The environment's own PageCheck belongs to the
// holder of the write lock.
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
  // `map` is where data.mdb is mapped. `tree_names` is indexed by MDB_dbi. A name is empty if there
  // is no such tree.
  PageCheck(const uint8_t* map, uint32_t page_bytes, std::vector<std::string> tree_names);

  // Must be called before the respective call of LMDB in the write transaction `txn`. Each fails
  // with StoreDamaged, naming the page and its defect. before_clear() reads the whole tree.
  Status before_put(MDB_txn* txn, MDB_dbi tree, std::string_view key);
  Status before_remove(MDB_txn* txn, MDB_dbi tree, std::string_view key);
  Status before_clear(MDB_txn* txn, MDB_dbi tree);

  // Returns whether a check has found that the meta page of a snapshot has another snapshot's data.
  // LMDB would begin from that page, so nothing may be written any more. Any thread may call this.
  bool has_missed_snapshot() const { return has_missed_snapshot_; }

  // Checks that the snapshot's list of free pages is well formed and has each page only once.
  // LMDB's later changes keep the list sound. Reads the whole list, eight bytes for each free page.
  // Must be called before all other checks.
  Status free_pages(uint64_t snapshot);
  // Fails if the snapshot's meta page has gone. The second commit after the snapshot overwrites it.
  Status finds(uint64_t snapshot) { return begin(snapshot); }
  // Checks the pages of all trees, except overflow pages. Fails with StoreDamaged, also if the
  // snapshot's meta page has gone. A reader must hold the snapshot.
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
  // What is known about a tree in the snapshot `of`.
  struct Checked {
    uint64_t of = 0;
    Tree tree;
    bool has_puts = false;
    // For each leaf an upper bound of the bytes that were removed from it. Not kept any more once
    // it has too many leaves (`are_many`).
    std::unordered_map<uint64_t, uint64_t> removed_bytes;
    bool are_many = false;
    uint64_t joins = 0;  // an upper bound of how many pages LMDB has merged
    // The leaf that was found last, and the bounds of its keys.
    const uint8_t* leaf = nullptr;
    Bounds bounds;
  };
  // A branch on the path to the key, and which of its children the path continues with.
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
  // Returns whether LMDB certainly does not merge the leaf after removing so many more bytes from
  // it.
  bool stays_full(Checked& checked, uint64_t removed_bytes) const;
  Status neighbours(Checked& checked, const std::vector<Step>& way);
  Status large_value(const Checked& checked, std::string_view key);
  Status value_pages(const Tree& tree, const TreePage::Node& node);
  // Checks that the headers of all large values together claim as many pages as the tree counts.
  // Reads the whole tree, but only once for each tree, as LMDB keeps both numbers right afterwards.
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
  // For each page of the first snapshot: true if the page was checked, or was free then. The
  // entries of such a page are sound, because a free page comes back into use only by a write.
  // Pages after the vector's end were written since and are sound too.
  std::vector<bool> sound_;
};

}  // namespace gridmount::local
