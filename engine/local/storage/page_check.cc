#include "engine/local/storage/page_check.h"

#include <algorithm>
#include <utility>

#include "engine/local/format/lmdb_layout.h"

namespace gridmount::local {
namespace {

// How many leaves of a tree Checked::removed_bytes may have.
constexpr size_t kLeavesMax = 100'000;

using lmdb::read;

// Prefetches a whole page, because PageCheck reads the page and LMDB then copies it. Otherwise
// there would be one cache miss after another.
void fetch(const uint8_t* page, uint32_t bytes) {
  constexpr uint32_t kLineBytes = 64;
  for (uint32_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(page + at);
}

bool less(TreePage::Holds holds, std::string_view a, std::string_view b) {
  if (holds != TreePage::Holds::kIntegers) return a < b;
  return read<uint64_t>(reinterpret_cast<const uint8_t*>(a.data())) <
         read<uint64_t>(reinterpret_cast<const uint8_t*>(b.data()));
}

// Returns the first node, from `first` on, whose key is above `key`.
size_t upper_bound(const TreePage& page, TreePage::Holds holds, size_t first,
                   std::string_view key) {
  size_t low = first;
  size_t high = page.count();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (less(holds, key, page.node(middle).key)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

PageCheck::PageCheck(const uint8_t* map, uint32_t page_bytes, std::vector<std::string> tree_names)
    : map_(map),
      page_bytes_(page_bytes),
      tree_names_(std::move(tree_names)),
      checked_(tree_names_.size()) {}

Error PageCheck::damaged(const Tree& tree, uint64_t number, std::string_view what) const {
  std::string message = "data.mdb is damaged at page " + std::to_string(number) + " of its tree '";
  message += tree.name;
  message += "': ";
  message += what;
  message += "; nothing was changed. Run 'gridstore check --repair', or restore from a backup";
  return Error(ErrorCode::kStoreDamaged, std::move(message));
}

Status PageCheck::begin(uint64_t snapshot) {
  if (snapshot_ == snapshot) return {};
  snapshot_ = 0;
  const uint8_t* const meta = map_ + snapshot % 2 * page_bytes_;
  const auto tree_at = [&](uint64_t offset, std::string_view name, Holds holds) {
    const lmdb::TreeRecord record = lmdb::tree_record(meta + offset);
    return Tree{name, holds, record.root, record.depth, record.overflow_pages};
  };
  free_ = tree_at(lmdb::kFreeTreeOffset, "free pages", Holds::kIntegers);
  main_ = tree_at(lmdb::kMainTreeOffset, "main", Holds::kTrees);
  last_page_ = read<uint64_t>(meta + lmdb::kLastPageOffset);
  if (read<uint32_t>(meta + lmdb::kMagicOffset) != lmdb::kMagic ||
      read<uint64_t>(meta + lmdb::kTransactionOffset) != snapshot) {
    has_missed_snapshot_ = true;
    return fail(damaged(main_, snapshot % 2, "it is not the snapshot's meta page"));
  }
  snapshot_ = snapshot;
  if (sound_.empty()) sound_.resize(last_page_ + 1);
  return {};
}

Status PageCheck::page(const Tree& tree, uint64_t number, size_t level, const Bounds& bounds) {
  if (number < 2 || number > last_page_) {
    return fail(damaged(tree, number, "another page refers to it, but it does not exist"));
  }
  const TreePage page = at(number);
  const char* defect = page.header_defect(number);
  if (defect == nullptr && number < sound_.size() && !sound_[number]) {
    defect = page.entries_defect(tree.holds);
    sound_[number] = defect == nullptr;
  }
  if (defect != nullptr) return fail(damaged(tree, number, defect));
  defect = page.depth_defect(level, tree.depth);
  if (defect != nullptr) return fail(damaged(tree, number, defect));
  // The first key of a branch has no meaning.
  const std::string_view first = page.node(page.is_branch() ? 1 : 0).key;
  const std::string_view last = page.node(page.count() - 1).key;
  if ((bounds.low.data() != nullptr && less(tree.holds, first, bounds.low)) ||
      (bounds.high.data() != nullptr && !less(tree.holds, last, bounds.high))) {
    return fail(damaged(tree, number, "its keys are outside the bounds that its parent sets"));
  }
  return {};
}

Status PageCheck::find_leaf(Checked& checked, std::string_view key, std::vector<Step>& way) {
  way.clear();
  checked.leaf = nullptr;
  checked.bounds = {};
  const Tree& tree = checked.tree;
  if (tree.root == lmdb::kNoPage) return {};
  uint64_t number = tree.root;
  Bounds bounds;
  for (size_t level = 1;; ++level) {
    GM_TRY(page(tree, number, level, bounds));
    const TreePage found = at(number);
    if (!found.is_branch()) break;
    const size_t child = upper_bound(found, tree.holds, 1, key) - 1;
    way.push_back({number, child, bounds});
    if (child > 0) bounds.low = found.node(child).key;
    if (child + 1 < found.count()) bounds.high = found.node(child + 1).key;
    number = found.node(child).child;
    const bool is_leaf = level + 1 == tree.depth;
    if (is_leaf && number <= last_page_) fetch(map_ + number * page_bytes_, page_bytes_);
  }
  checked.leaf = map_ + number * page_bytes_;
  checked.bounds = bounds;
  return {};
}

Result<PageCheck::Tree> PageCheck::tree_of(std::string_view name) {
  Checked in_main;
  in_main.tree = main_;
  GM_TRY(find_leaf(in_main, name, way_));
  if (in_main.leaf != nullptr) {
    const TreePage leaf(in_main.leaf, page_bytes_);
    const size_t behind = upper_bound(leaf, Holds::kTrees, 0, name);
    const TreePage::Node node = leaf.node(behind == 0 ? 0 : behind - 1);
    const lmdb::TreeRecord record = lmdb::tree_record(node.value);
    if (node.key == name && record.flags == 0) {
      return Tree{name, Holds::kValues, record.root, record.depth, record.overflow_pages};
    }
  }
  return fail(ErrorCode::kStoreDamaged, "data.mdb is damaged in the entry of its tree '" +
                                            std::string(name) + "'; restore from a backup");
}

Result<PageCheck::Checked*> PageCheck::checked(MDB_txn* txn, MDB_dbi tree) {
  const uint64_t snapshot = mdb_txn_id(txn) - 1;
  Checked& checked = checked_[tree];
  if (checked.of != snapshot || snapshot_ != snapshot) {
    GM_TRY(begin(snapshot));
    checked = {};
    GM_ASSIGN(checked.tree, tree_of(tree_names_[tree]));
    checked.of = snapshot;
  }
  return &checked;
}

Status PageCheck::value_pages(const Tree& tree, const TreePage::Node& node) {
  const auto first = read<uint64_t>(node.value);
  const uint64_t pages = lmdb::overflow_pages_needed(node.bytes, page_bytes_);
  if (first < 2 || first > last_page_ || pages > last_page_ - first + 1) {
    return fail(damaged(tree, first, "a large value is missing"));
  }
  const uint8_t* const header = map_ + first * page_bytes_;
  const uint32_t held = lmdb::overflow_pages(header);
  if (!lmdb::is_overflow_page(header, first) || held < pages || held > last_page_ - first + 1 ||
      (held > pages && !value_counts(tree))) {
    return fail(damaged(tree, first, "the header of a large value is damaged"));
  }
  return {};
}

Status PageCheck::value_counts(const Tree& tree) {
  if (counted_.contains(tree.name)) return {};
  uint64_t held = 0;
  GM_TRY(whole(tree, [&](const TreePage::Node& node) -> Status {
    if (!node.in_pages_of_its_own) return {};
    const auto first = read<uint64_t>(node.value);
    if (first < 2 || first > last_page_) {
      return fail(damaged(tree, first, "a large value is missing"));
    }
    held += lmdb::overflow_pages(map_ + first * page_bytes_);
    return {};
  }));
  if (held != tree.value_pages) {
    return fail(damaged(tree, tree.root,
                        "its large values have another number of pages than its record says"));
  }
  counted_.emplace(tree.name);
  return {};
}

Status PageCheck::large_value(const Checked& checked, std::string_view key) {
  if (checked.leaf == nullptr) return {};
  const TreePage leaf(checked.leaf, page_bytes_);
  const size_t behind = upper_bound(leaf, checked.tree.holds, 0, key);
  if (behind == 0) return {};
  const TreePage::Node node = leaf.node(behind - 1);
  if (node.key != key || !node.in_pages_of_its_own) return {};
  return value_pages(checked.tree, node);
}

Status PageCheck::before_put(MDB_txn* txn, MDB_dbi tree, std::string_view key) {
  GM_ASSIGN(Checked* const state, checked(txn, tree));
  state->has_puts = true;
  const Bounds& bounds = state->bounds;
  if (state->leaf == nullptr || (bounds.low.data() != nullptr && key < bounds.low) ||
      (bounds.high.data() != nullptr && key >= bounds.high)) {
    GM_TRY(find_leaf(*state, key, way_));
  }
  return large_value(*state, key);
}

// LMDB merges leaves that are less than a quarter full. To be on the safe side, returns true only
// for leaves that stay at least a third full.
bool PageCheck::stays_full(Checked& checked, uint64_t removed_bytes) const {
  if (checked.removed_bytes.size() >= kLeavesMax) {
    checked.are_many = true;
    checked.removed_bytes.clear();
  }
  if (!counts_leaves(checked)) return false;
  const TreePage leaf(checked.leaf, page_bytes_);
  const auto number = static_cast<uint64_t>(checked.leaf - map_) / page_bytes_;
  uint64_t& removed = checked.removed_bytes[number];
  removed += removed_bytes;
  return leaf.used_bytes() >= removed + page_bytes_ / 3;
}

Status PageCheck::neighbours(Checked& checked, const std::vector<Step>& way) {
  ++checked.joins;
  for (size_t level = way.size(); level > 0; --level) {
    const Step& step = way[level - 1];
    const TreePage parent = at(step.page);
    const auto look_at = [&](size_t child) -> Status {
      Bounds bounds = step.bounds;
      if (child > 0) bounds.low = parent.node(child).key;
      if (child + 1 < parent.count()) bounds.high = parent.node(child + 1).key;
      const uint64_t number = parent.node(child).child;
      // Instead of merging the leaf, LMDB may move an entry out of this neighbour. So count the
      // neighbour as empty from now on.
      if (level == way.size() && counts_leaves(checked)) {
        checked.removed_bytes[number] += page_bytes_;
      }
      return page(checked.tree, number, level + 1, bounds);
    };
    if (step.child > 0) GM_TRY(look_at(step.child - 1));
    if (step.child + 1 < parent.count()) GM_TRY(look_at(step.child + 1));
    // LMDB merges a branch that has less than two children left. A branch loses at most one child
    // for each merged leaf, and half of its children if puts have split it.
    const uint64_t children = checked.has_puts ? parent.count() / 2 : parent.count();
    if (children >= checked.joins + 2) break;
  }
  return {};
}

Status PageCheck::before_remove(MDB_txn* txn, MDB_dbi tree, std::string_view key) {
  GM_ASSIGN(Checked* const state, checked(txn, tree));
  GM_TRY(find_leaf(*state, key, way_));
  if (state->leaf == nullptr) return {};
  const TreePage leaf(state->leaf, page_bytes_);
  const size_t behind = upper_bound(leaf, state->tree.holds, 0, key);
  if (behind > 0 && leaf.node(behind - 1).key == key) {
    const TreePage::Node node = leaf.node(behind - 1);
    if (node.in_pages_of_its_own) GM_TRY(value_pages(state->tree, node));
    const uint64_t bytes = lmdb::kNodeHeaderBytes + key.size() + sizeof(uint64_t) +
                           (node.in_pages_of_its_own ? 0 : node.bytes);
    if (stays_full(*state, bytes)) return {};
  }
  return neighbours(*state, way_);
}

Status PageCheck::pages_below(const Tree& tree, uint64_t number, size_t level, const Bounds& bounds,
                              const LeafNode& leaf_node) {
  GM_TRY(page(tree, number, level, bounds));
  const TreePage found = at(number);
  const bool branch = found.is_branch();
  for (size_t i = branch ? 2 : 1; i < found.count(); ++i) {
    if (!less(tree.holds, found.node(i - 1).key, found.node(i).key)) {
      return fail(damaged(tree, number, "its keys are out of order"));
    }
  }
  for (size_t i = 0; i < found.count(); ++i) {
    const TreePage::Node node = found.node(i);
    if (!branch) {
      if (leaf_node) GM_TRY(leaf_node(node));
      continue;
    }
    Bounds below = bounds;
    if (i > 0) below.low = node.key;
    if (i + 1 < found.count()) below.high = found.node(i + 1).key;
    GM_TRY(pages_below(tree, node.child, level + 1, below, leaf_node));
  }
  return {};
}

Status PageCheck::whole(const Tree& tree, const LeafNode& leaf_node) {
  if (tree.root == lmdb::kNoPage) return {};
  return pages_below(tree, tree.root, 1, {}, leaf_node);
}

Status PageCheck::before_clear(MDB_txn* txn, MDB_dbi tree) {
  GM_ASSIGN(Checked* const state, checked(txn, tree));
  std::vector<uint64_t> runs;
  GM_TRY(whole(state->tree, [&](const TreePage::Node& node) -> Status {
    if (!node.in_pages_of_its_own) return {};
    runs.push_back(read<uint64_t>(node.value));
    return value_pages(state->tree, node);
  }));
  std::sort(runs.begin(), runs.end());
  const auto twice = std::adjacent_find(runs.begin(), runs.end());
  if (twice != runs.end()) {
    return fail(damaged(state->tree, *twice, "it is the value of two keys"));
  }
  return {};
}

Status PageCheck::free_pages(uint64_t snapshot) {
  GM_TRY(begin(snapshot));
  std::vector<bool> listed(last_page_ + 1);
  const auto list = [&](const TreePage::Node& node) -> Status {
    const uint8_t* numbers = node.value;
    uint64_t first = 0;
    if (node.in_pages_of_its_own) {
      GM_TRY(value_pages(free_, node));
      first = read<uint64_t>(node.value);
      numbers = map_ + first * page_bytes_ + lmdb::kPageHeaderBytes;
    }
    const auto wrong = [&] { return damaged(free_, first, "a list of free pages is invalid"); };
    const auto freed_by = read<uint64_t>(reinterpret_cast<const uint8_t*>(node.key.data()));
    if (freed_by == 0 || freed_by > snapshot || node.bytes < sizeof(uint64_t)) return fail(wrong());
    const auto count = read<uint64_t>(numbers);
    if (count > node.bytes / sizeof(uint64_t) - 1) return fail(wrong());
    // The numbers must descend.
    uint64_t above = last_page_ + 1;
    for (uint64_t i = 1; i <= count; ++i) {
      const auto number = read<uint64_t>(numbers + i * sizeof(uint64_t));
      if (number < 2 || number >= above || listed[number]) return fail(wrong());
      listed[number] = true;
      above = number;
    }
    return {};
  };
  GM_TRY(whole(free_, list));
  // A free page is written before it is in use again, so its entries will be sound.
  for (uint64_t page = 0; page <= last_page_; ++page) {
    if (listed[page]) sound_[page] = true;
  }
  return {};
}

Status PageCheck::all_trees(uint64_t snapshot) {
  GM_TRY(begin(snapshot));
  GM_TRY(whole(free_, {}));
  GM_TRY(whole(main_, {}));
  for (const std::string& name : tree_names_) {
    if (name.empty()) continue;
    GM_ASSIGN(const Tree tree, tree_of(name));
    GM_TRY(whole(tree, {}));
  }
  return {};
}

}  // namespace gridmount::local
