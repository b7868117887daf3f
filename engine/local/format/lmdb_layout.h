// The layout of the pages of data.mdb on 64-bit little-endian machines, as in LMDB 0.9 (mdb.c:
// MDB_page, MDB_node, MDB_db and MDB_meta). FORMAT.md, chapter "data.mdb", describes it. Code that
// reads pages without LMDB uses these functions. They check nothing: the caller must make sure that
// the bytes are mapped, and must check the numbers.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gridmount::local::lmdb {

// The handle (MDB_dbi) of the main tree, which holds the records of all named trees.
inline constexpr unsigned kMainTree = 1;
// The limit of LMDB for the depth of a tree (CURSOR_STACK).
inline constexpr size_t kTreeDepthMax = 32;
// The root's page number in the record of an empty tree (P_INVALID).
inline constexpr uint64_t kNoPage = UINT64_MAX;

// Returns the little-endian number at this place, which may have any alignment.
template <typename T>
T read(const uint8_t* at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

// --- The header of a page.
inline constexpr size_t kPageHeaderBytes = 16;
inline constexpr size_t kPageNumberOffset = 0;
inline constexpr size_t kPageFlagsOffset = 10;

// The flags of a page. Each page with a header has exactly one flag. A large value has a header
// only on its first page.
inline constexpr uint16_t kBranchPage = 1;
inline constexpr uint16_t kLeafPage = 2;
inline constexpr uint16_t kOverflowPage = 4;  // the first page of a large value
inline constexpr uint16_t kMetaPage = 8;

inline uint64_t page_number(const uint8_t* page) {
  return read<uint64_t>(page + kPageNumberOffset);
}
inline uint16_t page_flags(const uint8_t* page) {
  return read<uint16_t>(page + kPageFlagsOffset);
}
// Return the bounds of the free space of a branch or leaf, as offsets in the page. The list of node
// offsets is before the free space, and the nodes are after it.
inline uint16_t free_begin(const uint8_t* page) {
  return read<uint16_t>(page + 12);
}
inline uint16_t free_end(const uint8_t* page) {
  return read<uint16_t>(page + 14);
}
inline uint16_t node_offset(const uint8_t* page, size_t i) {
  return read<uint16_t>(page + kPageHeaderBytes + 2 * i);
}
// Returns the number of pages of the value that begins on this overflow page.
inline uint32_t overflow_pages(const uint8_t* page) {
  return read<uint32_t>(page + 12);
}
// Returns whether the page is the first page of a large value and has this page number.
inline bool is_overflow_page(const uint8_t* page, uint64_t number) {
  return page_number(page) == number && page_flags(page) == kOverflowPage;
}
// Returns how many pages a large value of this size takes.
inline uint64_t overflow_pages_needed(uint64_t value_bytes, uint64_t page_bytes) {
  return (kPageHeaderBytes - 1 + value_bytes) / page_bytes + 1;
}

// --- A node of a branch or a leaf: the node's header, the key, and in a leaf the value or the
// number of the value's first page.
inline constexpr size_t kNodeHeaderBytes = 8;
inline constexpr uint16_t kBigDataNode = 1;  // the value is on overflow pages
inline constexpr uint16_t kTreeNode = 2;     // the value is the record of a tree

inline uint32_t value_bytes(const uint8_t* node) {
  return read<uint32_t>(node);
}
inline uint16_t node_flags(const uint8_t* node) {
  return read<uint16_t>(node + 4);
}
inline uint16_t key_bytes(const uint8_t* node) {
  return read<uint16_t>(node + 6);
}
// Returns the page number in a node of a branch.
inline uint64_t child_page(const uint8_t* node) {
  return read<uint32_t>(node) | uint64_t{node_flags(node)} << 32;
}

// --- The record of a tree.
inline constexpr size_t kTreeRecordBytes = 48;

struct TreeRecord {
  uint16_t flags = 0;
  uint16_t depth = 0;
  uint64_t overflow_pages = 0;
  uint64_t root = kNoPage;
};

inline TreeRecord tree_record(const uint8_t* at) {
  return {read<uint16_t>(at + 4), read<uint16_t>(at + 6), read<uint64_t>(at + 24),
          read<uint64_t>(at + 40)};
}

// --- A meta page. The first number in the record of the free tree is the page size.
inline constexpr size_t kMagicOffset = 16;
inline constexpr size_t kVersionOffset = 20;
inline constexpr size_t kMapBytesOffset = 32;
inline constexpr size_t kFreeTreeOffset = 40;
inline constexpr size_t kMainTreeOffset = kFreeTreeOffset + kTreeRecordBytes;
inline constexpr size_t kLastPageOffset = 136;
inline constexpr size_t kTransactionOffset = 144;
inline constexpr size_t kMetaBytes = kTransactionOffset + sizeof(uint64_t);
inline constexpr uint32_t kMagic = 0xBEEFC0DE;
inline constexpr uint32_t kVersion = 1;

}  // namespace gridmount::local::lmdb
