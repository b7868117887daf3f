// Proves that a search in a tree has found the right position. TreePath reads the pages on the path
// to the position of a key, without LMDB. It reads them in the snapshot of a read transaction, or
// in the snapshot from which a write transaction began. So it can tell whether the tree lacks a
// key, or a damaged page has misled the search.
//
// A misled search ends next to the damage: a damaged key leads to a position beside this key, and a
// damaged entry of a branch leads to one end of a leaf. So a position is right if the entries on
// both sides of it have correct checksums and are in order with the key. If one of these two
// entries is in another leaf, TreePath also checks all pages on the path. Each page must have its
// own page number, and keys within the bounds that its parent sets. Where the path takes a branch's
// last child, or ends at the end of a leaf, an entry could be missing after it. So the entries of
// such a page must exactly fill the part of the page that its header counts as used. See FORMAT.md,
// chapter "Damaged pages".
//
// If the store's format has no checksums, or if no MapGuard guards data.mdb (map_guard.h), nothing
// is proved, and every call succeeds.
//
// Not thread-safe. Used by the thread that uses the transaction.
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/format/tree_page.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

class TreePath {
 public:
  // `trees` must outlive this object.
  TreePath(const Trees& trees, MDB_dbi tree);

  // Finds the neighbours of `key` in the snapshot: the last entry before the key, and the first
  // entry at or after the key. Proves that the tree has no entry between them. Fails with
  // StoreDamaged if it cannot prove this.
  Status prove(std::string_view key);
  // Proves that `found`, the result of a search with LMDB, is the right neighbour of the key: the
  // entry before the key if `found_below`, otherwise the entry at or after the key. Nothing means
  // that the search found no such entry. Otherwise like prove(key). Costs little if both neighbours
  // are in one leaf.
  Status prove(std::string_view key, const std::optional<TreeEntry>& found, bool found_below);
  // Proves that `found`, which TreeReader has returned, is the first entry at or after the key.
  // Otherwise like prove(key).
  Status prove(std::string_view key, const TreeReader::Found& found);
  // Return the neighbours of the key that the last prove() has found: below() the entry before the
  // key, and from() the entry at or after the key. The views are valid until the snapshot ends.
  const std::optional<TreeEntry>& below() const { return below_; }
  const std::optional<TreeEntry>& from() const { return from_; }
  // Returns true if prove() has found both neighbours on the path in the snapshot. No write of the
  // transaction changes the bytes of such entries. Returns false if it has found them in the leaf
  // of `found`.
  bool is_of_snapshot() const { return of_snapshot_; }

  // Returns whether two entries that LMDB has returned one after the other are in the same leaf.
  // Then follow() need not be called.
  bool is_in_same_leaf(std::string_view last, std::string_view key) const {
    if (map_ == nullptr) return true;
    return is_mapped(key) && is_mapped(last) && page_of(key) == page_of(last) &&
           at(page_of(key)).is_within_nodes(bytes_of(key));
  }
  // Proves that LMDB has skipped no leaf between two entries that it has returned one after the
  // other.
  Status follow(std::string_view last, std::string_view key, bool backward);
  // Proves that `last` was the last entry of a range that ends at `bound`. `found` is the entry
  // that LMDB has found beyond `last`, if any. A write may have removed `last` since. Calls
  // prove(), and follow() if necessary.
  Status prove_end(std::string_view last, std::string_view bound,
                   const std::optional<TreeEntry>& found, bool backward);

 private:
  // Keys must be within [low, high). A bound without data does not limit the keys.
  struct Bounds {
    std::string_view low;
    std::string_view high;
  };
  struct Step {
    uint64_t number = 0;
    size_t child = 0;  // in a branch: the child with which the path continues
    Bounds bounds;
  };

  // Reads the tree's record in the snapshot, unless it has been read before.
  Status begin();
  // Moves the path to the leaf of the key. `position_` is then the position of the leaf's first
  // entry at or after the key.
  Status descend(std::string_view key);
  // Moves the path to the next leaf. Returns false if there is none.
  Result<bool> step(bool backward);
  // Extends the path down to a leaf: with this page, its first child, the first child of that
  // child, and so on. With `backward`, takes the last children.
  Status descend_edge(uint64_t number, Bounds bounds, bool backward);
  // Checks a page and appends it to the path.
  Status push(uint64_t number, Bounds bounds);
  // Checks all entries of the leaf at the end of the path.
  Status check_leaf();
  // Checks that a branch's child and the children beside it are in order.
  Status check_child(const TreePage& page, uint64_t number, size_t child);
  Bounds bounds_of_child(const TreePage& page, const Step& step) const;
  // Returns the position of the first key at or after `key`, or kNoPlace if the page is damaged.
  static size_t find(const TreePage& page, std::string_view key, bool& exact);
  // Checks the two entries on each side of the position in the leaf: their keys must ascend.
  // Otherwise a damaged offset may lead to another entry of the leaf. At the leaf's last entry and
  // at its end, also checks all entries of the leaf, because an entry may be missing after the last
  // one. Returns a text that says what is wrong, or nullptr if nothing is wrong.
  static const char* place_defect(const TreePage& page, size_t position);
  // Returns the first entry of the next leaf, or with `backward` the last entry of the previous
  // leaf.
  Result<std::optional<TreeEntry>> beyond_leaf(bool backward);
  Status check_neighbours(std::string_view key);
  Status check_neighbour(const TreeEntry& entry);
  bool is_sound(const TreeEntry& entry) const;
  Result<TreeEntry> entry_at(const TreePage& page, uint64_t number, size_t position);
  // Tries to find both neighbours in the leaf of `found`. Returns false if one of them is in
  // another leaf. `place` is the position of the first entry at or after the key. Without `place`,
  // the function searches for the position.
  Result<bool> prove_within(std::string_view key, const TreeEntry& found, bool found_below,
                            std::optional<size_t> place = {});

  // Returns whether the bytes of the key are in the map. If not, this transaction has written them.
  bool is_mapped(std::string_view key) const {
    return static_cast<uint64_t>(bytes_of(key) - map_) < map_bytes_;
  }
  uint64_t page_of(std::string_view key) const {
    return static_cast<uint64_t>(bytes_of(key) - map_) >> page_shift_;
  }
  TreePage at(uint64_t number) const { return {map_ + number * page_bytes_, page_bytes_}; }
  static const uint8_t* bytes_of(std::string_view text) {
    return reinterpret_cast<const uint8_t*>(text.data());
  }
  tl::unexpected<Error> damaged(uint64_t number, std::string_view what) const;

  const Trees& trees_;
  const MDB_dbi tree_;
  const uint8_t* map_ = nullptr;  // null if nothing can be proved
  uint64_t map_bytes_ = 0;
  uint32_t page_bytes_ = 0;
  int page_shift_ = 0;
  uint64_t resumptions_ = 0;
  bool begun_ = false;  // the members below are set
  uint64_t last_page_ = 0;
  uint64_t root_ = lmdb::kNoPage;
  size_t depth_ = 0;
  std::vector<Step> way_;  // the path; the last step is the leaf
  size_t position_ = 0;
  uint64_t whole_leaf_ = 0;  // the leaf that check_leaf() has passed last
  bool of_snapshot_ = false;
  std::optional<TreeEntry> below_;
  std::optional<TreeEntry> from_;
};

}  // namespace gridmount::local
