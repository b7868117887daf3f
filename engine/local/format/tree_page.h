// A page of one of LMDB's trees, read without LMDB. The page may be damaged, so its numbers must be
// checked before they are used: the comments below say which check a function needs.
// Source: LMDB 0.9's file format (mdb.c, MDB_page and MDB_node); FORMAT.md, chapter "data.mdb".
//
// Thread-safe, as long as nobody writes to the page: a TreePage is a view of the mapped bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/local/format/lmdb_layout.h"

namespace gridmount::local {

class TreePage {
 public:
  // The contents of a tree's leaves.
  enum class Holds {
    kValues,   // a named tree: entries of the store
    kTrees,    // the main tree: the records of the named trees
    kIntegers  // the free tree: lists of free pages by transaction number
  };
  static constexpr size_t kKeyBytesMax = 511;

  struct Node {
    uint64_t child = 0;                // in a branch: the number of the child page
    uint64_t bytes = 0;                // in a leaf: the length of the value
    bool in_pages_of_its_own = false;  // in a leaf: the value is on overflow pages
    std::string_view key;
    const uint8_t* value = nullptr;  // in a leaf: points to the value, or to the number of its
                                     // first page (8 bytes)
  };

  // The whole page must be mapped.
  TreePage(const uint8_t* at, uint32_t page_bytes) : at_(at), page_bytes_(page_bytes) {}

  // Both functions return a text that says how the page contradicts the format, or nullptr if the
  // page does not contradict the format. header_defect() checks only the header, which must have
  // the page number `number`. entries_defect() checks all entries, and may be called only if
  // header_defect() has returned nullptr. The functions below may be called only if both have
  // returned nullptr, unless their comments say otherwise.
  const char* header_defect(uint64_t number) const;
  const char* entries_defect(Holds holds) const;

  // Needs only a header without a defect. Returns nullptr if a page of this kind may be at this
  // level of a tree with this depth, otherwise a text. The root is at level 1.
  const char* depth_defect(size_t level, size_t depth) const {
    const bool is_there = is_branch() ? level < depth : level == depth;
    return is_there && level <= lmdb::kTreeDepthMax ? nullptr
                                                    : "the tree's depth differs from its record";
  }

  // is_branch() and is_within_nodes() need no check. count() needs only a header without a defect.
  bool is_branch() const { return lmdb::page_flags(at_) == lmdb::kBranchPage; }
  size_t count() const { return (lower() - lmdb::kPageHeaderBytes) / 2; }
  Node node(size_t i) const { return node_at(offset(i)); }
  // has_node() returns whether the whole node is between the end of the free space and the end of
  // the page. has_key() returns whether the node's header and key are there. Both need only a
  // header without a defect, and an `i` less than count(). key(i) may be called if has_key(i) is
  // true, and node(i) may be called if has_node(i) is true.
  bool has_node(size_t i) const;
  bool has_key(size_t i) const {
    const uint64_t begin = offset(i);
    return begin % 2 == 0 && begin >= upper() && begin + lmdb::kNodeHeaderBytes <= page_bytes_ &&
           begin + lmdb::kNodeHeaderBytes + lmdb::key_bytes(at_ + begin) <= page_bytes_;
  }
  std::string_view key(size_t i) const {
    const uint8_t* const at = at_ + offset(i);
    return {reinterpret_cast<const char*>(at) + lmdb::kNodeHeaderBytes, lmdb::key_bytes(at)};
  }
  // Salvages the nodes of a page that has a defect. The page must not be a branch, and is read as a
  // leaf with values. Returns the nodes to which the list of offsets points, except nodes in the
  // free space, nodes with impossible numbers, and nodes that do not fit into the page. If the list
  // has an impossible length, returns the nodes from the end of the free space up to the end of the
  // page or the first impossible node. If the end of the free space is impossible too, returns no
  // nodes. Each returned node may be damaged.
  std::vector<Node> leaf_nodes_of_damaged() const;
  // Returns whether the key at this address of the page belongs to a node. Otherwise the key is in
  // the free space, where old nodes may remain.
  bool is_within_nodes(const uint8_t* key) const {
    return key >= at_ + upper() + lmdb::kNodeHeaderBytes;
  }
  // Returns how many bytes the nodes and the list of their offsets have.
  uint64_t used_bytes() const { return page_bytes_ - lmdb::kPageHeaderBytes - (upper() - lower()); }

 private:
  uint64_t lower() const { return lmdb::free_begin(at_); }
  uint64_t upper() const { return lmdb::free_end(at_); }
  uint64_t offset(size_t i) const { return lmdb::node_offset(at_, i); }
  Node node_at(uint64_t offset) const;
  // Returns the length of a leaf's node at the offset, in bytes. Returns nothing if the node has
  // impossible numbers or is not within the page.
  std::optional<uint64_t> leaf_node_bytes(uint64_t offset) const;

  const uint8_t* at_;
  uint32_t page_bytes_;
};

}  // namespace gridmount::local
