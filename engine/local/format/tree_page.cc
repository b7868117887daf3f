#include "engine/local/format/tree_page.h"

#include <algorithm>
#include <array>

namespace gridmount::local {
namespace {

constexpr uint64_t kPageBytesMax = 32768;

// LMDB rounds the lengths of nodes up to even numbers.
uint64_t even(uint64_t bytes) {
  return (bytes + 1) & ~uint64_t{1};
}

}  // namespace

TreePage::Node TreePage::node_at(uint64_t offset) const {
  const uint8_t* const at = at_ + offset;
  const uint16_t key_bytes = lmdb::key_bytes(at);
  Node node;
  node.key = {reinterpret_cast<const char*>(at) + lmdb::kNodeHeaderBytes, key_bytes};
  if (is_branch()) {
    node.child = lmdb::child_page(at);
  } else {
    node.bytes = lmdb::value_bytes(at);
    node.in_pages_of_its_own = lmdb::node_flags(at) == lmdb::kBigDataNode;
    node.value = at + lmdb::kNodeHeaderBytes + key_bytes;
  }
  return node;
}

bool TreePage::has_node(size_t i) const {
  if (!has_key(i)) return false;
  const uint64_t begin = offset(i);
  const uint8_t* const at = at_ + begin;
  uint64_t end = begin + lmdb::kNodeHeaderBytes + lmdb::key_bytes(at);
  if (!is_branch()) {
    end += lmdb::node_flags(at) == lmdb::kBigDataNode ? sizeof(uint64_t) : lmdb::value_bytes(at);
  }
  return end <= page_bytes_;
}

std::optional<uint64_t> TreePage::leaf_node_bytes(uint64_t offset) const {
  if (offset % 2 != 0 || offset < lmdb::kPageHeaderBytes ||
      offset + lmdb::kNodeHeaderBytes > page_bytes_)
    return {};
  const uint8_t* const at = at_ + offset;
  const uint16_t flags = lmdb::node_flags(at);
  const uint16_t key_bytes = lmdb::key_bytes(at);
  if (flags > lmdb::kBigDataNode || key_bytes == 0 || key_bytes > kKeyBytesMax) return {};
  const uint64_t value_bytes =
      flags == lmdb::kBigDataNode ? sizeof(uint64_t) : lmdb::value_bytes(at);
  const uint64_t bytes = lmdb::kNodeHeaderBytes + key_bytes + value_bytes;
  if (offset + bytes > page_bytes_) return {};
  return bytes;
}

std::vector<TreePage::Node> TreePage::leaf_nodes_of_damaged() const {
  std::vector<Node> nodes;
  const bool has_list =
      lower() > lmdb::kPageHeaderBytes && lower() % 2 == 0 && lower() <= page_bytes_;
  const bool has_bound = upper() >= lmdb::kPageHeaderBytes && upper() % 2 == 0 &&
                         upper() < page_bytes_ && (!has_list || upper() >= lower());
  if (has_list) {
    for (size_t i = 0; i < count(); ++i) {
      const uint64_t begin = offset(i);
      if (has_bound && begin < upper()) continue;
      if (leaf_node_bytes(begin)) nodes.push_back(node_at(begin));
    }
  } else if (has_bound) {
    for (uint64_t begin = upper(); begin < page_bytes_;) {
      const std::optional<uint64_t> bytes = leaf_node_bytes(begin);
      if (!bytes) break;
      nodes.push_back(node_at(begin));
      begin += even(*bytes);
    }
  }
  return nodes;
}

const char* TreePage::header_defect(uint64_t number) const {
  if (lmdb::page_number(at_) != number) return "it has another page's number";
  const uint16_t flags = lmdb::page_flags(at_);
  if (flags != lmdb::kBranchPage && flags != lmdb::kLeafPage)
    return "it is neither a branch nor a leaf";
  if (lower() < lmdb::kPageHeaderBytes || lower() % 2 != 0 || upper() < lower() ||
      upper() > page_bytes_) {
    return "its free space has impossible bounds";
  }
  return count() < (is_branch() ? 2 : 1) ? "it has too few entries" : nullptr;
}

// LMDB moves nodes within the page, so they must not overlap. They must fill the page from the end
// of the free space, one after the other, and each node must be in the list of offsets.
const char* TreePage::entries_defect(Holds holds) const {
  constexpr const char* kOverlap = "its entries overlap or lie outside the page";
  std::array<uint64_t, kPageBytesMax / 2 / 64 + 1> begins;  // a bit for each even offset
  std::fill_n(begins.begin(), page_bytes_ / 2 / 64 + 1, 0);
  for (size_t i = 0; i < count(); ++i) {
    const uint64_t begin = offset(i);
    if (begin % 2 != 0 || begin < upper() || begin + lmdb::kNodeHeaderBytes > page_bytes_) {
      return kOverlap;
    }
    begins[begin / 128] |= uint64_t{1} << (begin / 2 % 64);
  }
  size_t nodes = 0;
  uint64_t begin = upper();
  const bool branch = is_branch();
  while (begin < page_bytes_) {
    if (begin % 2 != 0 || (begins[begin / 128] >> (begin / 2 % 64) & 1) == 0) return kOverlap;
    const uint8_t* const at = at_ + begin;
    const uint16_t key_bytes = lmdb::key_bytes(at);
    uint64_t bytes = lmdb::kNodeHeaderBytes + key_bytes;
    if (key_bytes > kKeyBytesMax) return "a key is too long";
    if (!branch) {
      if (holds == Holds::kIntegers ? key_bytes != sizeof(uint64_t) : key_bytes == 0) {
        return "a key has an impossible length";
      }
      const uint16_t flags = lmdb::node_flags(at);
      const uint32_t value_bytes = lmdb::value_bytes(at);
      if (holds == Holds::kTrees ? flags != lmdb::kTreeNode || value_bytes != lmdb::kTreeRecordBytes
                                 : flags != 0 && flags != lmdb::kBigDataNode) {
        return "an entry has impossible flags";
      }
      bytes += flags == lmdb::kBigDataNode ? sizeof(uint64_t) : value_bytes;
    }
    begin += even(bytes);
    ++nodes;
  }
  return begin == page_bytes_ && nodes == count() ? nullptr : kOverlap;
}

}  // namespace gridmount::local
