// A page of LMDB's trees, read without LMDB and believed in nothing: each of its numbers is checked
// before it is followed. Source: LMDB 0.9's file format (mdb.c, MDB_page and MDB_node); FORMAT.md,
// chapter "data.mdb".
//
// Thread-safety: a view of mapped bytes that nobody changes.
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
  // What the leaves of a tree may hold.
  enum class Holds {
    kValues,   // of ours, each key at most 511 bytes
    kTrees,    // the records of named trees: the main tree
    kIntegers  // lists of free pages under the numbers of transactions: the free tree
  };
  static constexpr size_t kKeyBytesMax = 511;

  struct Node {
    uint64_t child = 0;  // of a branch: the page's number
    uint64_t bytes = 0;  // of a leaf: the value's length
    bool in_pages_of_its_own = false;
    std::string_view key;
    const uint8_t* value = nullptr;  // in the leaf: the value, or the number of its first page
  };

  // The whole page must be mapped.
  TreePage(const uint8_t* at, uint32_t page_bytes) : at_(at), page_bytes_(page_bytes) {}

  // How it contradicts the format, or nothing; `number` is what it should have. What follows may be
  // called only if there is nothing in either. The first looks at the page's header alone, the
  // second at all entries.
  const char* header_defect(uint64_t number) const;
  const char* entries_defect(Holds holds) const;

  // How it contradicts its place in a tree of that depth, whose root is at level 1, or nothing.
  const char* depth_defect(size_t level, size_t depth) const {
    const bool is_there = is_branch() ? level < depth : level == depth;
    return is_there && level <= lmdb::kTreeDepthMax ? nullptr
                                                    : "the tree is not as deep as its entry says";
  }

  bool is_branch() const { return lmdb::page_flags(at_) == lmdb::kBranchPage; }
  size_t count() const { return (lower() - lmdb::kPageHeaderBytes) / 2; }
  Node node(size_t i) const { return node_at(offset(i)); }
  // Without entries_defect(): whether the node, or as much of it as its key, is where nodes may be.
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
  // Of a page with a defect, read as a leaf of values: those that lie within it where its list of
  // nodes says, or if that cannot be, side by side up to its end. Each may be anything.
  std::vector<Node> leaf_nodes_of_damaged() const;
  // Whether a key is that of a node, and not left over in the page's free space.
  bool is_within_nodes(const uint8_t* key) const {
    return key >= at_ + upper() + lmdb::kNodeHeaderBytes;
  }
  // How much of it is nodes and their offsets.
  uint64_t used_bytes() const { return page_bytes_ - lmdb::kPageHeaderBytes - (upper() - lower()); }

 private:
  uint64_t lower() const { return lmdb::free_begin(at_); }
  uint64_t upper() const { return lmdb::free_end(at_); }
  uint64_t offset(size_t i) const { return lmdb::node_offset(at_, i); }
  Node node_at(uint64_t offset) const;
  // Whether a leaf's node at the offset, with its key and value, lies within the page; its length.
  std::optional<uint64_t> leaf_node_bytes(uint64_t offset) const;

  const uint8_t* at_;
  uint32_t page_bytes_;
};

}  // namespace gridmount::local
