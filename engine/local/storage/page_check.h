// Looks at the pages that a write is going to change before LMDB does. LMDB takes what they say for
// true and moves bytes about by it, so that a damaged one would have it write over memory that is
// not its own, free pages that are in use, or commit more damage.
//
// What is looked at are pages of the snapshot that the transaction began from: those it has changed
// since were sound before. Each page on the way to the key must have its own number, entries that
// lie in it side by side, and keys within the bounds its parent sets; the tree must be as deep as
// its entry says. Where a removal may have LMDB join pages, so must the neighbours; and where a
// large value is replaced or removed, the header of its pages.
//
// A value that took a larger one's place within one transaction keeps all of its pages (mdb.c,
// mdb_cursor_put). When the first of a tree is met, the pages of all its values are counted, as a
// damaged header can claim as much.
//
// Not seen: an entry whose key or value is another than it was, as long as the keys at the edges of
// its page are in bounds; records have checksums for that.
//
// Thread-safety: none; the environment's own belongs to whoever has the writers' turn.
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
  // `map` is where data.mdb is mapped; `tree_names` are by MDB_dbi, empty for those that are none.
  PageCheck(const uint8_t* map, uint32_t page_bytes, std::vector<std::string> tree_names);

  // To be asked before LMDB is, in the write transaction `txn`. StoreDamaged, naming the page and
  // what is wrong with it.
  Status before_put(MDB_txn* txn, MDB_dbi tree, std::string_view key);
  Status before_remove(MDB_txn* txn, MDB_dbi tree, std::string_view key);
  // Reads the whole tree.
  Status before_clear(MDB_txn* txn, MDB_dbi tree);

  // Whether a snapshot that was asked for had another's meta page. LMDB would begin from that, so
  // nothing may be written any more. May be asked on any thread.
  bool has_missed_snapshot() const { return has_missed_snapshot_; }

  // The snapshot's list of free pages: whole, and each page in it once. What LMDB makes of it from
  // then on is sound. Reads it all, eight bytes for each free page. To be called first.
  Status free_pages(uint64_t snapshot);
  // Whether the snapshot's meta page is there: the second commit after it writes over that one.
  Status finds(uint64_t snapshot) { return begin(snapshot); }
  // The pages of all trees, without those of large values. StoreDamaged too if the snapshot is not
  // found; a reader must hold it.
  Status all_trees(uint64_t snapshot);

 private:
  using Holds = TreePage::Holds;

  // Keys are within [low, high); one without data is no bound.
  struct Bounds {
    std::string_view low;
    std::string_view high;
  };
  struct Tree {
    std::string_view name;
    Holds holds = Holds::kValues;
    uint64_t root = lmdb::kNoPage;
    unsigned depth = 0;
    uint64_t value_pages = 0;  // of all its large values
  };
  // What is known of a tree in the snapshot `of`.
  struct Checked {
    uint64_t of = 0;
    Tree tree;
    bool has_puts = false;
    // Of each leaf how many bytes of entries are removed at most, while they are few leaves.
    std::unordered_map<uint64_t, uint64_t> removed_bytes;
    bool are_many = false;
    uint64_t joins = 0;  // of pages: not more
    // The leaf that was found last: of the keys within `bounds`.
    const uint8_t* leaf = nullptr;
    Bounds bounds;
  };
  // A branch, and the child of it that leads to the key.
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
  // Whether LMDB leaves the leaf as a page of its own after one more removal of so many bytes.
  bool stays_full(Checked& checked, uint64_t removed_bytes) const;
  Status neighbours(Checked& checked, const std::vector<Step>& way);
  Status large_value(const Checked& checked, std::string_view key);
  Status value_pages(const Tree& tree, const TreePage::Node& node);
  // Whether the headers of its large values have as many pages as the tree counts. Reads the whole
  // tree, once in the life of this: LMDB keeps both right.
  Status value_counts(const Tree& tree);
  // One page of the tree, on the level counted from 1, and whether its keys are within the bounds.
  Status page(const Tree& tree, uint64_t number, size_t level, const Bounds& bounds);
  // That one and all below.
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
  std::vector<Checked> checked_;                // by MDB_dbi
  std::vector<Step> way_;                       // kept for its memory
  std::set<std::string, std::less<>> counted_;  // names of trees, by value_counts()
  // Pages of the first snapshot whose entries are sound: those that have been looked at, and those
  // that were free then and can have come back only by being written. Those behind its end have
  // been written since.
  std::vector<bool> sound_;
};

}  // namespace gridmount::local
