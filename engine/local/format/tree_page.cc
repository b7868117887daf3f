#include "engine/local/format/tree_page.h"

#include <algorithm>
#include <array>

namespace gridmount::local {
namespace {

constexpr uint64_t kPageBytesMax = 32768;
constexpr uint16_t kBigData = 1;
constexpr uint16_t kSubData = 2;

// Lengths are rounded up to even numbers.
uint64_t even(uint64_t bytes) {
  return (bytes + 1) & ~uint64_t{1};
}

}  // namespace

TreePage::Node TreePage::node_at(uint64_t offset) const {
  const uint8_t* const at = at_ + offset;
  const auto low = read<uint32_t>(at);
  const auto flags = read<uint16_t>(at + 4);
  const auto key_bytes = read<uint16_t>(at + 6);
  Node node;
  node.key = {reinterpret_cast<const char*>(at) + kNodeHeaderBytes, key_bytes};
  if (is_branch()) {
    node.child = low | uint64_t{flags} << 32;
  } else {
    node.bytes = low;
    node.in_pages_of_its_own = flags == kBigData;
    node.value = at + kNodeHeaderBytes + key_bytes;
  }
  return node;
}

bool TreePage::has_node(size_t i) const {
  if (!has_key(i)) return false;
  const uint64_t begin = offset(i);
  const uint8_t* const at = at_ + begin;
  uint64_t end = begin + kNodeHeaderBytes + read<uint16_t>(at + 6);
  if (!is_branch()) {
    end += read<uint16_t>(at + 4) == kBigData ? sizeof(uint64_t) : read<uint32_t>(at);
  }
  return end <= page_bytes_;
}

std::optional<uint64_t> TreePage::leaf_node_bytes(uint64_t offset) const {
  if (offset % 2 != 0 || offset < kHeaderBytes || offset + kNodeHeaderBytes > page_bytes_)
    return {};
  const uint8_t* const at = at_ + offset;
  const auto flags = read<uint16_t>(at + 4);
  const auto key_bytes = read<uint16_t>(at + 6);
  if (flags > kBigData || key_bytes == 0 || key_bytes > kKeyBytesMax) return {};
  const uint64_t value_bytes = flags == kBigData ? sizeof(uint64_t) : read<uint32_t>(at);
  const uint64_t bytes = kNodeHeaderBytes + key_bytes + value_bytes;
  if (offset + bytes > page_bytes_) return {};
  return bytes;
}

std::vector<TreePage::Node> TreePage::leaf_nodes_of_damaged() const {
  std::vector<Node> nodes;
  const bool has_list = lower() > kHeaderBytes && lower() % 2 == 0 && lower() <= page_bytes_;
  const bool has_bound = upper() >= kHeaderBytes && upper() % 2 == 0 && upper() < page_bytes_ &&
                         (!has_list || upper() >= lower());
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
  if (read<uint64_t>(at_) != number) return "it says that it is another page";
  const auto flags = read<uint16_t>(at_ + 10);
  if (flags != kBranch && flags != kLeaf) return "it is neither a branch nor a leaf";
  if (lower() < kHeaderBytes || lower() % 2 != 0 || upper() < lower() || upper() > page_bytes_) {
    return "its free space has impossible bounds";
  }
  return count() < (is_branch() ? 2 : 1) ? "it has too few entries" : nullptr;
}

// The nodes fill what is behind the free space, each in a place of its own: so LMDB can move them
// about within the page.
const char* TreePage::entries_defect(Holds holds) const {
  constexpr const char* kOverlap = "its entries overlap or lie outside";
  std::array<uint64_t, kPageBytesMax / 2 / 64 + 1> begins;  // a bit for each even offset
  std::fill_n(begins.begin(), page_bytes_ / 2 / 64 + 1, 0);
  for (size_t i = 0; i < count(); ++i) {
    const uint64_t begin = offset(i);
    if (begin % 2 != 0 || begin < upper() || begin + kNodeHeaderBytes > page_bytes_) {
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
    const auto key_bytes = read<uint16_t>(at + 6);
    uint64_t bytes = kNodeHeaderBytes + key_bytes;
    if (key_bytes > kKeyBytesMax) return "a key is too long";
    if (!branch) {
      if (holds == Holds::kIntegers ? key_bytes != sizeof(uint64_t) : key_bytes == 0) {
        return "a key has an impossible length";
      }
      const auto flags = read<uint16_t>(at + 4);
      const auto value_bytes = read<uint32_t>(at);
      if (holds == Holds::kTrees ? flags != kSubData || value_bytes != kTreeRecordBytes
                                 : flags != 0 && flags != kBigData) {
        return "an entry has impossible flags";
      }
      bytes += flags == kBigData ? sizeof(uint64_t) : value_bytes;
    }
    begin += even(bytes);
    ++nodes;
  }
  return begin == page_bytes_ && nodes == count() ? nullptr : kOverlap;
}

}  // namespace gridmount::local
