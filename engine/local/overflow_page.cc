#include "engine/local/overflow_page.h"

#include <cstring>
#include <memory>

#include "engine/local/fault_scope.h"
#include "engine/local/range_cursor.h"

namespace gridmount::local {
namespace {

constexpr uint64_t kHeaderBytes = 16;
constexpr uint64_t kFlagsOffset = 10;
constexpr uint64_t kPagesOffset = 12;
constexpr uint16_t kOverflowFlag = 0x04;
constexpr uint64_t kNodeHeaderBytes = 8;
constexpr uint64_t kKeysPerPageMin = 2;

template <typename T>
T read_number(const uint8_t* at) {
  T number;
  std::memcpy(&number, at, sizeof(number));
  return number;
}

const uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

// Where the map must begin, if the page that the tree's first key stands on tells its number right.
uintptr_t map_by_first_key(const std::shared_ptr<Trees>& trees, MDB_dbi tree, uint64_t page_bytes) {
  RangeCursor cursor(trees, tree);
  cursor.set_range(std::string(1, '\0'), std::string(512, '\xFF'), false);
  const Result<std::optional<TreeEntry>> first = cursor.next();
  if (!first || !*first) return 0;
  const uint8_t* const key = bytes_of((*first)->key);
  const uint8_t* const page = key - reinterpret_cast<uintptr_t>(key) % page_bytes;
  // A damaged number may lead anywhere.
  return reinterpret_cast<uintptr_t>(page) - read_number<uint64_t>(page) * page_bytes;
}

}  // namespace

OverflowPages OverflowPages::of(const std::shared_ptr<Trees>& trees, MDB_dbi tree) {
  OverflowPages pages;
  MDB_stat stat{};
  const int code = guarded([&] { return mdb_stat(trees->txn(), trees->catalog(), &stat); });
  if (code != MDB_SUCCESS) return pages;
  pages.page_bytes_ = stat.ms_psize;
  const uintptr_t by_catalog = map_by_first_key(trees, trees->catalog(), stat.ms_psize);
  if (by_catalog == map_by_first_key(trees, tree, stat.ms_psize)) pages.map_ = by_catalog;
  return pages;
}

std::string OverflowPages::defect(const TreeEntry& entry) const {
  if (page_bytes_ == 0) return {};
  // As LMDB decides whether a value has pages of its own.
  const uint64_t node_bytes_max =
      ((page_bytes_ - kHeaderBytes) / kKeysPerPageMin & ~uint64_t{1}) - sizeof(uint16_t);
  if (kNodeHeaderBytes + entry.key.size() + entry.value.size() <= node_bytes_max) return {};
  const uint8_t* const page = bytes_of(entry.value) - kHeaderBytes;
  const uint64_t pages = (kHeaderBytes - 1 + entry.value.size()) / page_bytes_ + 1;
  const bool is_whole = read_number<uint16_t>(page + kFlagsOffset) == kOverflowFlag &&
                        read_number<uint32_t>(page + kPagesOffset) == pages;
  const bool is_itself = map_ == 0 || read_number<uint64_t>(page) * page_bytes_ ==
                                          reinterpret_cast<uintptr_t>(page) - map_;
  if (is_whole && is_itself) return {};
  return "the header of its pages in data.mdb is damaged, so that removing or replacing it would "
         "do harm";
}

}  // namespace gridmount::local
