// The way to a key's place in one of the store's trees, read without LMDB in the pages of the
// snapshot that a transaction reads or has begun from. It tells a search that found nothing from
// one that was led astray by a damaged page.
//
// A search of a tree goes wrong only beside what is damaged: a key that has become another sends it
// to one of that key's sides, a page number or a branch's key to one end of a leaf. So a place is
// right if the entries on both sides are what was put there, by their checksums, and are in order
// with it; and, where one of them is in another leaf, if all pages on the way have their own
// numbers, keys within the bounds that their parents set, and as many entries as they have room
// taken. FORMAT.md, chapter "Damaged pages".
//
// A store whose format has no checksums proves nothing: every call is then a success.
//
// Thread-safety: none; belongs to the transaction's thread.
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
  // `trees` must outlive this.
  TreePath(const Trees& trees, MDB_dbi tree);

  // That the tree has in the snapshot no entry between the place of `key` and its neighbours.
  // StoreDamaged if that cannot be told. The views hold as long as the snapshot.
  Status prove(std::string_view key);
  // The same, and that LMDB has found the right one of them: below the key, or else at or above it.
  // Cheap if both are in the leaf of the one that was found.
  Status prove(std::string_view key, const std::optional<TreeEntry>& found, bool found_below);
  // The same of what TreeReader has found.
  Status prove(std::string_view key, const TreeReader::Place& found);
  // The neighbours that were found last; only the second can have the key itself.
  const std::optional<TreeEntry>& below() const { return below_; }
  const std::optional<TreeEntry>& from() const { return from_; }
  // Whether they are in the snapshot's pages, so that no write of the transaction changes them.
  bool is_of_snapshot() const { return of_snapshot_; }

  // Whether two entries that LMDB has given one after the other are in one leaf, so that follow()
  // has nothing to prove.
  bool is_in_same_leaf(std::string_view last, std::string_view key) const {
    if (map_ == nullptr) return true;
    return is_mapped(key) && is_mapped(last) && page_of(key) == page_of(last) &&
           at(page_of(key)).is_within_nodes(bytes_of(key));
  }
  // That LMDB has left out no leaf between them.
  Status follow(std::string_view last, std::string_view key, bool backward);
  // The end of a range behind the entry `last`, which may have been removed since: follow() and
  // prove(), and that there is nothing between it and the end.
  Status prove_end(std::string_view last, std::string_view bound,
                   const std::optional<TreeEntry>& found, bool backward);

 private:
  // Keys are within [low, high); one without data is no bound.
  struct Bounds {
    std::string_view low;
    std::string_view high;
  };
  struct Step {
    uint64_t number = 0;
    size_t child = 0;  // of a branch: the one that the way goes on with
    Bounds bounds;
  };

  Status begin();
  // To the leaf of the key's place; its entry at or above the key is the one at `position_`.
  Status descend(std::string_view key);
  // To the next leaf; false if there is none.
  Result<bool> step(bool backward);
  // On to a page, and from a branch to its first or last child, down to a leaf.
  Status descend_edge(uint64_t number, Bounds bounds, bool backward);
  Status push(uint64_t number, Bounds bounds);
  // All entries of the leaf that the way ends in.
  Status check_leaf();
  Status check_child(const TreePage& page, uint64_t number, size_t child);
  Bounds bounds_of_child(const TreePage& page, const Step& step) const;
  // The place of the key among the page's, or kNoPlace if the page is damaged.
  static size_t find(const TreePage& page, std::string_view key, bool& exact);
  // What is wrong with the leaf's entries on both sides of the position: they must be in order, so
  // that none stands for another, and the last one must be the last.
  static const char* place_defect(const TreePage& page, size_t position);
  // The first or last entry of the next leaf.
  Result<std::optional<TreeEntry>> beyond_leaf(bool backward);
  Status check_neighbours(std::string_view key);
  Status check_neighbour(const TreeEntry& entry);
  bool is_sound(const TreeEntry& entry) const;
  Result<TreeEntry> entry_at(const TreePage& page, uint64_t number, size_t position);
  // True if the place lies within one leaf, which `found` is in; `place` is where, or nothing
  // if it is to be looked for.
  Result<bool> prove_within(std::string_view key, const TreeEntry& found, bool found_below,
                            std::optional<size_t> place = {});

  // What lies elsewhere was written by the transaction.
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
  const uint8_t* map_ = nullptr;  // null: nothing is proved
  uint64_t map_bytes_ = 0;
  uint32_t page_bytes_ = 0;
  int page_shift_ = 0;
  uint64_t resumptions_ = 0;
  bool begun_ = false;  // what follows is known
  uint64_t last_page_ = 0;
  uint64_t root_ = lmdb::kNoPage;
  size_t depth_ = 0;
  std::vector<Step> way_;  // the last is the leaf; empty without one
  size_t position_ = 0;
  uint64_t whole_leaf_ = 0;  // that check_leaf() has looked at last
  bool of_snapshot_ = false;
  std::optional<TreeEntry> below_;
  std::optional<TreeEntry> from_;
};

}  // namespace gridmount::local
