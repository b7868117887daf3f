#include "engine/local/storage/tree_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/local/files/fault_scope.h"
#include "engine/local/format/lmdb_layout.h"
#include "engine/local/format/tree_page.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {
namespace {

constexpr size_t kCacheLineBytes = 64;

using lmdb::read;

void prefetch(const void* at) {
  __builtin_prefetch(at);
}

// Prefetches a page's header and the offsets of its first nodes, where the search reads first.
void prefetch_head(const uint8_t* page) {
  prefetch(page);
  prefetch(page + kCacheLineBytes);
  prefetch(page + 2 * kCacheLineBytes);
}

// Prefetches a value: all of a usual record, or the beginning of a larger value.
void prefetch_all(std::string_view value) {
  constexpr size_t kBytesMax = 1024;
  const size_t bytes = std::min(value.size(), kBytesMax);
  for (size_t at = 0; at < bytes; at += kCacheLineBytes) prefetch(value.data() + at);
}

}  // namespace

struct TreeReader::Key {
  static constexpr size_t kInNumbers = 12;

  Key() = default;
  explicit Key(std::string_view key)
      : bytes(reinterpret_cast<const uint8_t*>(key.data())), size(key.size()) {
    if (size < kInNumbers) return;
    first = __builtin_bswap64(read<uint64_t>(bytes));
    second = __builtin_bswap32(read<uint32_t>(bytes + 8));
  }

  // Returns a negative number if the node's key is below this one, 0 if they are equal, and a
  // positive number if the node's key is above this one.
  int order_of(const uint8_t* node) const {
    const uint8_t* const other = node + lmdb::kNodeHeaderBytes;
    const size_t other_size = lmdb::key_bytes(node);
    size_t done = 0;
    if (size >= kInNumbers && other_size >= kInNumbers) {
      const uint64_t other_first = __builtin_bswap64(read<uint64_t>(other));
      if (other_first != first) return other_first < first ? -1 : 1;
      const uint32_t other_second = __builtin_bswap32(read<uint32_t>(other + 8));
      if (other_second != second) return other_second < second ? -1 : 1;
      done = kInNumbers;
    }
    const int order = std::memcmp(other + done, bytes + done, std::min(size, other_size) - done);
    if (order != 0) return order;
    return other_size < size ? -1 : static_cast<int>(other_size > size);
  }

  const uint8_t* bytes = nullptr;
  size_t size = 0;
  uint64_t first = 0;
  uint32_t second = 0;
};

class TreeReader::Page {
 public:
  Page() = default;
  Page(const uint8_t* at, uint32_t page_bytes) : at_(at), page_bytes_(page_bytes) {}

  const uint8_t* begin() const { return at_; }
  uint64_t number() const { return lmdb::page_number(at_); }
  uint16_t kind() const { return lmdb::page_flags(at_); }
  // Returns the number of nodes. Returns 0 without a page, or if the bound in its header is
  // impossible.
  size_t count() const {
    if (at_ == nullptr) return 0;
    const size_t lower = lmdb::free_begin(at_);
    if (lower < lmdb::kPageHeaderBytes || lower > page_bytes_) return 0;
    return (lower - lmdb::kPageHeaderBytes) / 2;
  }

  // Returns null if the node or its key does not lie within the page.
  const uint8_t* node(size_t i) const {
    const size_t begin = offset(i);
    if (begin > page_bytes_ - lmdb::kNodeHeaderBytes) return nullptr;
    const size_t key_bytes = lmdb::key_bytes(at_ + begin);
    return begin + lmdb::kNodeHeaderBytes + key_bytes > page_bytes_ ? nullptr : at_ + begin;
  }
  void prefetch_node(size_t i) const { prefetch(at_ + offset(i)); }
  // Prefetches all nodes that the next `levels` steps of a search in [low, high) may read.
  void prefetch_nodes(size_t low, size_t high, int levels) const {
    if (low == high || levels == 0) return;
    const size_t middle = low + (high - low) / 2;
    prefetch_node(middle);
    prefetch_nodes(low, middle, levels - 1);
    prefetch_nodes(middle + 1, high, levels - 1);
  }
  size_t bytes_behind(const uint8_t* in_page) const {
    return page_bytes_ - static_cast<size_t>(in_page - at_);
  }

 private:
  size_t offset(size_t i) const { return lmdb::node_offset(at_, i); }

  const uint8_t* at_ = nullptr;
  uint32_t page_bytes_ = 0;
};

// A binary search for a key in a page. In a leaf, the first node at or above the key is in [low,
// high] until the search ends. In a branch, the search ends with `low` one after the key's child.
struct TreeReader::Search {
  static constexpr int kLevelsAtOnce = 3;

  Key key;
  Page page;
  size_t low = 0;
  size_t high = 0;
  const uint8_t* found = nullptr;
  // Set only in a branch. In a leaf, a damaged node ends the search without a result.
  bool damaged = false;

  void begin_leaf(const Page& leaf) { begin(leaf, 0); }
  // The first child has no key to compare.
  void begin_branch(const Page& branch) { begin(branch, 1); }

  // Run a single search to its end. No other search can use the time while a node is fetched, so
  // prefetch the nodes of several steps at once.
  void run_leaf() {
    for (int steps = 0; low != high; ++steps) {
      prefetch_steps(steps);
      step_leaf();
    }
  }
  void run_branch() {
    for (int steps = 0; low != high; ++steps) {
      prefetch_steps(steps);
      step_branch();
    }
  }
  // Each of these functions takes one step. They return whether the search needs another step.
  bool step_leaf() {
    if (low == high) return false;
    const size_t i = middle();
    const uint8_t* const node = page.node(i);
    const int order = node == nullptr ? 0 : key.order_of(node);
    narrow(i, order < 0);
    if (order == 0) {
      found = node;
      low = high;
    }
    return prefetch_step();
  }
  bool step_branch() {
    if (low == high) return false;
    const size_t i = middle();
    const uint8_t* const node = page.node(i);
    damaged = damaged || node == nullptr;
    narrow(i, node != nullptr && key.order_of(node) <= 0);
    return prefetch_step();
  }
  // Returns the last child whose first key is not above this key, or nothing if the page is
  // damaged.
  std::optional<uint64_t> child() const {
    const uint8_t* const node = page.node(low - 1);
    if (damaged || node == nullptr) return std::nullopt;
    return lmdb::child_page(node);
  }

  // Runs several searches in lockstep: all take a step, then all take the next one.
  template <bool (Search::*kStep)()>
  static void run(std::span<Search> searches) {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (Search& search : searches) goes_on |= (search.*kStep)();
    }
  }

 private:
  void begin(const Page& in, size_t first) {
    page = in;
    low = first;
    high = std::max(first, page.count());
    (void)prefetch_step();
  }
  size_t middle() const { return low + (high - low) / 2; }
  void narrow(size_t i, bool behind) {
    if (behind) {
      low = i + 1;
    } else {
      high = i;
    }
  }
  bool prefetch_step() const {
    if (low == high) return false;
    page.prefetch_node(middle());
    return true;
  }
  void prefetch_steps(int steps) const {
    if (steps % kLevelsAtOnce == 0) page.prefetch_nodes(low, high, kLevelsAtOnce);
  }
};

// Each thread keeps the roots of one snapshot, because its next transaction often reads the same
// snapshot.
struct TreeReader::Roots {
  uint64_t pages = 0;  // the id of the PageMap
  size_t snapshot = 0;
  uint64_t last_page = 0;
  std::array<Root, 4> roots;  // the oldest one is replaced
  size_t known = 0;
};

TreeReader::Roots& TreeReader::roots() {
  thread_local Roots roots;
  const size_t snapshot = mdb_txn_id(txn_);
  if (roots.pages != pages_->id || roots.snapshot != snapshot) {
    MDB_envinfo info;
    mdb_env_info(mdb_txn_env(txn_), &info);
    roots = {pages_->id, snapshot, info.me_last_pgno, {}, 0};
  }
  return roots;
}

std::optional<TreeReader::Root> TreeReader::root_of(MDB_dbi tree) {
  if (pages_->begin == nullptr || tree >= pages_->tree_names.size()) return std::nullopt;
  if (pages_->tree_names[tree].empty()) return std::nullopt;
  Roots& known = roots();
  last_page_ = known.last_page;
  for (size_t i = 0; i < std::min(known.known, known.roots.size()); ++i) {
    if (known.roots[i].tree == tree) return known.roots[i];
  }
  MDB_val name = to_mdb(pages_->tree_names[tree]);
  MDB_val record{};
  const int code = guarded([&] { return mdb_get(txn_, lmdb::kMainTree, &name, &record); });
  if (code != MDB_SUCCESS || record.mv_data == nullptr ||
      record.mv_size != lmdb::kTreeRecordBytes) {
    return std::nullopt;
  }
  const lmdb::TreeRecord found = lmdb::tree_record(static_cast<const uint8_t*>(record.mv_data));
  Root& root = known.roots[known.known++ % known.roots.size()];
  root = {tree, found.depth, found.root};
  return root;
}

std::optional<TreeReader::Page> TreeReader::page(uint64_t number, uint16_t kind) const {
  if (number > last_page_) return std::nullopt;
  const Page page(at(number), pages_->page_bytes);
  if (page.number() != number || page.kind() != kind) return std::nullopt;
  return page;
}

// Returns the number of the key's leaf, and does not read the leaf.
std::optional<uint64_t> TreeReader::find_leaf(const Root& root, Search& search) const {
  uint64_t number = root.page;
  for (unsigned level = 1; level < root.depth; ++level) {
    const std::optional<Page> branch = page(number, lmdb::kBranchPage);
    if (!branch) return std::nullopt;
    search.begin_branch(*branch);
    search.run_branch();
    const std::optional<uint64_t> child = search.child();
    if (!child || *child > last_page_) return std::nullopt;
    number = *child;
    prefetch_head(at(number));
  }
  return number;
}

// Finds the leaves of several keys, one level of the tree after the other. Sets the number to
// kNoPage for a key that meets a damaged page.
void TreeReader::find_leaves(const Root& root, std::span<Search> searches,
                             std::span<uint64_t> numbers) const {
  std::fill(numbers.begin(), numbers.end(), root.page > last_page_ ? lmdb::kNoPage : root.page);
  for (unsigned level = 1; level < root.depth; ++level) {
    for (size_t i = 0; i < searches.size(); ++i) {
      const std::optional<Page> branch = page(numbers[i], lmdb::kBranchPage);
      searches[i].begin_branch(branch.value_or(Page()));
      if (!branch) numbers[i] = lmdb::kNoPage;
    }
    Search::run<&Search::step_branch>(searches);
    for (size_t i = 0; i < searches.size(); ++i) {
      if (numbers[i] == lmdb::kNoPage) continue;
      numbers[i] = searches[i].child().value_or(lmdb::kNoPage);
      if (numbers[i] > last_page_) {
        numbers[i] = lmdb::kNoPage;
      } else {
        prefetch_head(at(numbers[i]));
      }
    }
  }
}

std::optional<std::string_view> TreeReader::value_of(const Page& leaf, const uint8_t* node) const {
  const size_t bytes = lmdb::value_bytes(node);
  const uint16_t flags = lmdb::node_flags(node);
  const uint8_t* value = node + lmdb::kNodeHeaderBytes + lmdb::key_bytes(node);
  const size_t room = leaf.bytes_behind(value);
  if (flags == lmdb::kBigDataNode && room >= sizeof(uint64_t)) {
    // The header of the value's first page has the number of its pages.
    const auto number = read<uint64_t>(value);
    const std::optional<Page> first = page(number, lmdb::kOverflowPage);
    if (!first || bytes > kValueBytesMax) return std::nullopt;
    const uint64_t needed = lmdb::overflow_pages_needed(bytes, pages_->page_bytes);
    const uint64_t count = lmdb::overflow_pages(first->begin());
    if (needed > count || count > last_page_ - number + 1) return std::nullopt;
    value = first->begin() + lmdb::kPageHeaderBytes;
  } else if (flags != 0 || bytes > room) {
    return std::nullopt;
  }
  return std::string_view(reinterpret_cast<const char*>(value), bytes);
}

std::optional<TreeReader::Search> TreeReader::search(MDB_dbi tree, std::string_view key) {
  const std::optional<Root> root = root_of(tree);
  if (!root) return std::nullopt;
  Search search;
  search.key = Key(key);
  const std::optional<uint64_t> number = find_leaf(*root, search);
  if (!number) return std::nullopt;
  const std::optional<Page> leaf = page(*number, lmdb::kLeafPage);
  if (!leaf) return std::nullopt;
  search.begin_leaf(*leaf);
  search.run_leaf();
  return search;
}

std::optional<std::string_view> TreeReader::find(MDB_dbi tree, std::string_view key) {
  const std::optional<Search> search = this->search(tree, key);
  if (!search || search->found == nullptr) return std::nullopt;
  return value_of(search->page, search->found);
}

std::optional<TreeReader::Found> TreeReader::find_from(MDB_dbi tree, std::string_view key) {
  const std::optional<Search> search = this->search(tree, key);
  if (!search || search->low == 0 || search->low >= search->page.count()) return std::nullopt;
  const uint8_t* const node = search->page.node(search->low);
  if (node == nullptr) return std::nullopt;
  const std::optional<std::string_view> value = value_of(search->page, node);
  if (!value) return std::nullopt;
  const auto* const bytes = reinterpret_cast<const char*>(node);
  const TreeEntry entry{{bytes + lmdb::kNodeHeaderBytes, lmdb::key_bytes(node)}, *value};
  return Found{entry, search->low};
}

void TreeReader::find(MDB_dbi tree, std::span<Wanted> wanted) {
  const std::optional<Root> root = root_of(tree);
  if (!root) return;
  std::array<Search, kKeysMax> room;
  std::array<uint64_t, kKeysMax> leaves{};
  const std::span<Search> searches(room.data(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) searches[i].key = Key(wanted[i].key);
  find_leaves(*root, searches, std::span(leaves.data(), wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i) {
    searches[i].begin_leaf(page(leaves[i], lmdb::kLeafPage).value_or(Page()));
  }
  Search::run<&Search::step_leaf>(searches);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (searches[i].found == nullptr) continue;
    wanted[i].value = value_of(searches[i].page, searches[i].found);
    if (wanted[i].value) prefetch_all(*wanted[i].value);
  }
}

}  // namespace gridmount::local
