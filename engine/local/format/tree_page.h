// A page of LMDB's trees, read without LMDB and believed in nothing: each of its numbers is checked
// before it is followed. Source: LMDB 0.9's file format (mdb.c, MDB_page and MDB_node); FORMAT.md,
// chapter "data.mdb".
//
// Thread-safety: a view of mapped bytes that nobody changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace gridmount::local {

class TreePage {
 public:
  // What the leaves of a tree may hold.
  enum class Holds {
    kValues,   // of ours, each key at most 511 bytes
    kTrees,    // the records of named trees: the main tree
    kIntegers  // lists of free pages under the numbers of transactions: the free tree
  };
  static constexpr uint64_t kHeaderBytes = 16;
  static constexpr uint64_t kNodeHeaderBytes = 8;
  static constexpr size_t kKeyBytesMax = 511;
  static constexpr size_t kTreeRecordBytes = 48;
  static constexpr uint64_t kNoPage = UINT64_MAX;

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

  bool is_branch() const { return read<uint16_t>(at_ + 10) == kBranch; }
  size_t count() const { return (lower() - kHeaderBytes) / 2; }
  Node node(size_t i) const { return node_at(offset(i)); }
  // Without entries_defect(): whether the node, or as much of it as its key, is where nodes may be.
  bool has_node(size_t i) const;
  bool has_key(size_t i) const {
    const uint64_t begin = offset(i);
    return begin % 2 == 0 && begin >= upper() && begin + kNodeHeaderBytes <= page_bytes_ &&
           begin + kNodeHeaderBytes + read<uint16_t>(at_ + begin + 6) <= page_bytes_;
  }
  std::string_view key(size_t i) const {
    const uint8_t* const at = at_ + offset(i);
    return {reinterpret_cast<const char*>(at) + kNodeHeaderBytes, read<uint16_t>(at + 6)};
  }
  // Of a page with a defect, read as a leaf of values: those that lie within it where its list of
  // nodes says, or if that cannot be, side by side up to its end. Each may be anything.
  std::vector<Node> leaf_nodes_of_damaged() const;
  // Whether a key is that of a node, and not left over in the page's free space.
  bool is_within_nodes(const uint8_t* key) const { return key >= at_ + upper() + kNodeHeaderBytes; }
  // How much of it is nodes and their offsets.
  uint64_t used_bytes() const { return page_bytes_ - kHeaderBytes - (upper() - lower()); }

  template <typename T>
  static T read(const uint8_t* at) {
    T number;
    std::memcpy(&number, at, sizeof(number));
    return number;
  }

 private:
  static constexpr uint16_t kBranch = 1;
  static constexpr uint16_t kLeaf = 2;

  uint64_t lower() const { return read<uint16_t>(at_ + 12); }
  uint64_t upper() const { return read<uint16_t>(at_ + 14); }
  uint64_t offset(size_t i) const { return read<uint16_t>(at_ + kHeaderBytes + 2 * i); }
  Node node_at(uint64_t offset) const;
  // Whether a leaf's node at the offset, with its key and value, lies within the page; its length.
  std::optional<uint64_t> leaf_node_bytes(uint64_t offset) const;

  const uint8_t* at_;
  uint32_t page_bytes_;
};

}  // namespace gridmount::local
