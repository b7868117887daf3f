// Proves that a search of a tree has found the right place. It reads the path to a key's place in
// the pages of a snapshot, without LMDB. So it distinguishes a key that is absent from a search
// that a damaged page has led astray. The snapshot is the one that the transaction reads or began
// from.
//
// A search goes wrong only next to the damage: a damaged key sends it to a place beside that key,
// and a damaged entry of a branch to one end of a leaf. So a place is right if the entries on both
// sides of it have the right checksums and are in order with it. If one of the two is in another
// leaf, all pages on the path must also have their own numbers, keys within the bounds that the
// parent sets, and entries that exactly fill the room that the page counts as taken. FORMAT.md,
// chapter "Damaged pages".
//
// In a store whose format has no checksums nothing is proved, and every call succeeds.
//
// Not thread-safe. It belongs to the transaction's thread.
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

  // Finds the neighbours of `key` in the snapshot: the last entry below it and the first one at or
  // above it. Proves that the tree has no other entry between them. Fails with StoreDamaged if it
  // cannot.
  Status prove(std::string_view key);
  // Also proves that the entry which LMDB has found is the right neighbour of the key: the one
  // below the key if `found_below`, else the one at or above the key. Cheap if both neighbours are
  // in one leaf.
  Status prove(std::string_view key, const std::optional<TreeEntry>& found, bool found_below);
  // Also proves that TreeReader has found the right entry at or above the key.
  Status prove(std::string_view key, const TreeReader::Found& found);
  // The neighbours that prove() has found. from() is the entry of the key if the tree has it. The
  // views are valid as long as the snapshot.
  const std::optional<TreeEntry>& below() const { return below_; }
  const std::optional<TreeEntry>& from() const { return from_; }
  // Returns whether the neighbours are entries of the snapshot, which no write of the transaction
  // changes.
  bool is_of_snapshot() const { return of_snapshot_; }

  // Returns whether two entries that LMDB has returned one after the other are in one leaf. Then
  // follow() has nothing to prove.
  bool is_in_same_leaf(std::string_view last, std::string_view key) const {
    if (map_ == nullptr) return true;
    return is_mapped(key) && is_mapped(last) && page_of(key) == page_of(last) &&
           at(page_of(key)).is_within_nodes(bytes_of(key));
  }
  // Proves that LMDB has skipped no leaf between two entries that it has returned one after the
  // other.
  Status follow(std::string_view last, std::string_view key, bool backward);
  // Proves the end of a range: that `last`, which may have been removed since, was the last entry
  // before `bound`. Calls prove(), and follow() where it is needed.
  Status prove_end(std::string_view last, std::string_view bound,
                   const std::optional<TreeEntry>& found, bool backward);

 private:
  // Keys must be within [low, high). A bound without data does not limit them.
  struct Bounds {
    std::string_view low;
    std::string_view high;
  };
  struct Step {
    uint64_t number = 0;
    size_t child = 0;  // in a branch: the child with which the path continues
    Bounds bounds;
  };

  // Reads what the snapshot says of the tree, unless that is known already.
  Status begin();
  // Moves the path to the leaf of the key's place. `position_` is then the leaf's first entry at or
  // above the key.
  Status descend(std::string_view key);
  // Moves the path to the next leaf. Returns false if there is none.
  Result<bool> step(bool backward);
  // Extends the path by this page and then by first children, or last ones if `backward`, to a
  // leaf.
  Status descend_edge(uint64_t number, Bounds bounds, bool backward);
  // Checks a page and appends it to the path.
  Status push(uint64_t number, Bounds bounds);
  // Checks all entries of the leaf at the end of the path.
  Status check_leaf();
  // Checks that a branch's child and the children beside it are in order.
  Status check_child(const TreePage& page, uint64_t number, size_t child);
  Bounds bounds_of_child(const TreePage& page, const Step& step) const;
  // Returns the position of the first key at or above `key`, or kNoPlace if the page is damaged.
  static size_t find(const TreePage& page, std::string_view key, bool& exact);
  // Returns what is wrong with the leaf's entries on both sides of the position, or nullptr. They
  // must be in order, so that no entry stands in another's place. At the leaf's end, all entries
  // must be sound: otherwise one may be missing after the last.
  static const char* place_defect(const TreePage& page, size_t position);
  // Returns the first entry of the next leaf, or the last entry of the one before if `backward`.
  Result<std::optional<TreeEntry>> beyond_leaf(bool backward);
  Status check_neighbours(std::string_view key);
  Status check_neighbour(const TreeEntry& entry);
  bool is_sound(const TreeEntry& entry) const;
  Result<TreeEntry> entry_at(const TreePage& page, uint64_t number, size_t position);
  // Tries to find both neighbours in the leaf of `found`. Returns false if one of them is in
  // another leaf. `place` is the position of the first entry at or above the key. Without `place`,
  // the function searches.
  Result<bool> prove_within(std::string_view key, const TreeEntry& found, bool found_below,
                            std::optional<size_t> place = {});

  // Returns whether the key is in the map. If not, this transaction has written it.
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
