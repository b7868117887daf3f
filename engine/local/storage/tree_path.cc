#include "engine/local/storage/tree_path.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "engine/local/files/fault_scope.h"
#include "engine/local/format/catalog_keys.h"
#include "engine/local/format/entry_checksum.h"
#include "engine/local/format/lmdb_layout.h"
#include "engine/local/format/record.h"
#include "engine/local/format/record_patches.h"
#include "engine/local/storage/lmdb_context.h"

namespace gridmount::local {
namespace {

// The limit for the value of an index entry.
constexpr size_t kIndexValueBytesMax = 1024;
constexpr size_t kNoPlace = SIZE_MAX;
constexpr const char* kMisplaced = "its entries overlap or lie outside the page";
constexpr const char* kDisordered = "its keys are out of order";

}  // namespace

TreePath::TreePath(const Trees& trees, MDB_dbi tree) : trees_(trees), tree_(tree) {
  if (trees.ended() || !trees.has_checksums()) return;
  const PageMap& pages = context_of(trees.txn()).pages;
  map_ = pages.begin;
  map_bytes_ = pages.bytes;
  page_bytes_ = pages.page_bytes;
  page_shift_ = std::countr_zero(page_bytes_);
}

tl::unexpected<Error> TreePath::damaged(uint64_t number, std::string_view what) const {
  std::string message = "data.mdb is damaged at page " + std::to_string(number) + " of its tree '" +
                        trees_.name_of(tree_) + "': ";
  message += what;
  message += "; run 'gridstore check --repair'";
  return fail(ErrorCode::kStoreDamaged, std::move(message));
}

// Reads the tree's root in the snapshot. Also in a write transaction, the main tree has the roots
// of the snapshot, because LMDB writes the new roots into it only at the commit.
Status TreePath::begin() {
  if (begun_ && resumptions_ == trees_.resumptions()) return {};
  begun_ = true;
  resumptions_ = trees_.resumptions();
  whole_leaf_ = 0;
  MDB_envinfo info;
  mdb_env_info(mdb_txn_env(trees_.txn()), &info);
  last_page_ = info.me_last_pgno;
  const std::string name = trees_.name_of(tree_);
  GM_ASSIGN(const std::optional<std::string_view> record, trees_.get(lmdb::kMainTree, name));
  if (!record || record->size() != lmdb::kTreeRecordBytes) {
    return fail(ErrorCode::kStoreDamaged, "data.mdb is damaged in the entry of its tree '" + name +
                                              "'; run 'gridstore check --repair'");
  }
  const lmdb::TreeRecord tree = lmdb::tree_record(bytes_of(*record));
  depth_ = tree.depth;
  root_ = tree.root;
  return {};
}

Status TreePath::push(uint64_t number, Bounds bounds) {
  if (number < 2 || number > last_page_) {
    return damaged(number, "another page refers to it, but it does not exist");
  }
  const TreePage page = at(number);
  if (const char* const defect = page.header_defect(number)) return damaged(number, defect);
  way_.push_back({number, 0, bounds});
  const size_t level = way_.size();
  if (const char* const defect = page.depth_defect(level, depth_)) return damaged(number, defect);
  // The first key of a branch has no meaning.
  const size_t first = page.is_branch() ? 1 : 0;
  if (!page.has_node(first) || !page.has_node(page.count() - 1)) {
    return damaged(number, kMisplaced);
  }
  if ((bounds.low.data() != nullptr && page.node(first).key < bounds.low) ||
      (bounds.high.data() != nullptr && page.node(page.count() - 1).key >= bounds.high)) {
    return damaged(number, "its keys are outside the bounds that its parent sets");
  }
  return {};
}

// Searches exactly as LMDB does, so that a damaged key misleads both in the same way.
size_t TreePath::find(const TreePage& page, std::string_view key, bool& exact) {
  exact = false;
  size_t low = page.is_branch() ? 1 : 0;
  size_t end = page.count();
  while (low < end) {
    const size_t middle = (low + end - 1) / 2;
    if (!page.has_key(middle)) return kNoPlace;
    const int order = key.compare(page.key(middle));
    if (order == 0) {
      exact = true;
      return middle;
    }
    if (order > 0) {
      low = middle + 1;
    } else {
      end = middle;
    }
  }
  return low;
}

Status TreePath::check_child(const TreePage& page, uint64_t number, size_t child) {
  const auto is_node = [&](size_t i) { return i >= page.count() || page.has_node(i); };
  const auto ascend = [&](size_t i) {
    if (i + 1 >= page.count()) return true;
    const std::string_view next = page.node(i + 1).key;
    // The first node has no key to compare. A damaged offset of the second node may lead to the
    // first one.
    return i == 0 ? !next.empty() && next.data() != page.node(0).key.data()
                  : page.node(i).key < next;
  };
  const size_t before = child == 0 ? 0 : child - 1;
  if (!is_node(before) || !is_node(child) || !is_node(child + 1) || !ascend(before) ||
      !ascend(child)) {
    return damaged(number, kDisordered);
  }
  if (child + 1 < page.count()) return {};
  // Prove that this is the last child, and that no node is missing after it.
  if (const char* const defect = page.entries_defect(TreePage::Holds::kValues)) {
    return damaged(number, defect);
  }
  return {};
}

TreePath::Bounds TreePath::bounds_of_child(const TreePage& page, const Step& step) const {
  Bounds bounds = step.bounds;
  if (step.child > 0) bounds.low = page.node(step.child).key;
  if (step.child + 1 < page.count()) bounds.high = page.node(step.child + 1).key;
  return bounds;
}

Status TreePath::descend(std::string_view key) {
  GM_TRY(begin());
  way_.clear();
  position_ = 0;
  if (root_ == lmdb::kNoPage) return {};
  uint64_t number = root_;
  Bounds bounds;
  while (true) {
    GM_TRY(push(number, bounds));
    const TreePage page = at(number);
    bool exact;
    const size_t found = find(page, key, exact);
    if (found == kNoPlace) return damaged(number, kMisplaced);
    if (!page.is_branch()) {
      position_ = found;
      return {};
    }
    way_.back().child = exact ? found : found - 1;
    GM_TRY(check_child(page, number, way_.back().child));
    bounds = bounds_of_child(page, way_.back());
    number = page.node(way_.back().child).child;
  }
}

Status TreePath::descend_edge(uint64_t number, Bounds bounds, bool backward) {
  while (true) {
    GM_TRY(push(number, bounds));
    const TreePage page = at(number);
    if (!page.is_branch()) return {};
    way_.back().child = backward ? page.count() - 1 : 0;
    GM_TRY(check_child(page, number, way_.back().child));
    bounds = bounds_of_child(page, way_.back());
    number = page.node(way_.back().child).child;
  }
}

Result<bool> TreePath::step(bool backward) {
  size_t level = way_.empty() ? 0 : way_.size() - 1;
  while (level > 0) {
    const Step& parent = way_[level - 1];
    if (backward ? parent.child > 0 : parent.child + 1 < at(parent.number).count()) break;
    --level;
  }
  if (level == 0) return false;
  way_.resize(level);
  Step& parent = way_.back();
  parent.child = backward ? parent.child - 1 : parent.child + 1;
  const TreePage page = at(parent.number);
  GM_TRY(check_child(page, parent.number, parent.child));
  GM_TRY(descend_edge(page.node(parent.child).child, bounds_of_child(page, parent), backward));
  return true;
}

const char* TreePath::place_defect(const TreePage& page, size_t position) {
  const size_t begin = position < 2 ? 0 : position - 2;
  const size_t end = std::min(position + 2, page.count());
  for (size_t i = begin; i < end; ++i) {
    if (!page.has_key(i)) return kMisplaced;
    if (i > begin && page.key(i - 1) >= page.key(i)) return kDisordered;
  }
  if (position + 1 < page.count()) return nullptr;
  return page.entries_defect(TreePage::Holds::kValues);
}

Result<TreeEntry> TreePath::entry_at(const TreePage& page, uint64_t number, size_t position) {
  if (!page.has_node(position)) return damaged(number, kMisplaced);
  const TreePage::Node node = page.node(position);
  const auto* value = reinterpret_cast<const char*>(node.value);
  if (node.in_pages_of_its_own) {
    GM_TRY(begin());
    const auto first = lmdb::read<uint64_t>(node.value);
    if (first < 2 || first > last_page_) return damaged(first, "a large value is missing");
    const uint8_t* const header = map_ + first * page_bytes_;
    if (!lmdb::is_overflow_page(header, first)) {
      return damaged(first, "the header of a large value is damaged");
    }
    value = reinterpret_cast<const char*>(header) + lmdb::kPageHeaderBytes;
  }
  return TreeEntry{node.key, {value, node.bytes}};
}

// The entry may belong to any keyspace of the tree, so try the checksums of both records and index
// entries.
bool TreePath::is_sound(const TreeEntry& entry) const {
  if (tree_ == trees_.catalog()) return is_sound_catalog_entry(trees_.tree_count(), entry);
  const uint32_t number = trees_.number_of(tree_) - 1;
  if (entry.key.size() == kRecordKeyBytes && entry.value.size() > kRecordHeaderBytes &&
      has_key_checksum(entry.value, number, entry.key).value_or(false)) {
    return true;
  }
  const bool may_be_patch = is_patch_key(entry.key) && entry.value.size() <= kPatchValueBytesMax;
  return (may_be_patch || entry.value.size() <= kIndexValueBytesMax) &&
         has_entry_checksum(number, entry.key, entry.value);
}

Status TreePath::check_neighbour(const TreeEntry& entry) {
  if (is_sound(entry)) return {};
  if (tree_ != trees_.catalog()) {
    GM_ASSIGN(const bool has_none, trees_.is_without_checksums(trees_.number_of(tree_) - 1, entry));
    if (has_none) return {};
  }
  return damaged(is_mapped(entry.key) ? page_of(entry.key) : 0,
                 "an entry's checksum does not match it");
}

Status TreePath::check_neighbours(std::string_view key) {
  if ((below_ && below_->key >= key) || (from_ && from_->key < key)) {
    const uint64_t number = way_.empty() ? root_ : way_.back().number;
    return damaged(number, "its keys are outside the bounds that its parent sets");
  }
  if (below_ && !is_sound(*below_)) GM_TRY(check_neighbour(*below_));
  if (from_ && !is_sound(*from_)) GM_TRY(check_neighbour(*from_));
  return {};
}

Result<bool> TreePath::prove_within(std::string_view key, const TreeEntry& found, bool found_below,
                                    std::optional<size_t> place) {
  if (!is_mapped(found.key)) return false;
  const uint64_t number = page_of(found.key);
  const TreePage page = at(number);
  if (const char* const defect = page.header_defect(number)) return damaged(number, defect);
  if (page.is_branch()) return damaged(number, "it is not a leaf");
  bool exact;
  const size_t position = place ? *place : find(page, key, exact);
  if (position == kNoPlace) return damaged(number, kMisplaced);
  if (position == 0 || position >= page.count()) return false;
  if (const char* const defect = place_defect(page, position)) return damaged(number, defect);
  GM_ASSIGN(below_, entry_at(page, number, position - 1));
  GM_ASSIGN(from_, entry_at(page, number, position));
  of_snapshot_ = false;
  way_.clear();
  if ((found_below ? below_ : from_)->key.data() != found.key.data()) {
    return damaged(number, kDisordered);
  }
  return true;
}

Status TreePath::prove(std::string_view key) {
  if (map_ == nullptr) return {};
  below_.reset();
  from_.reset();
  of_snapshot_ = true;
  GM_TRY(descend(key));
  if (way_.empty()) return {};
  const uint64_t number = way_.back().number;
  const TreePage page = at(number);
  if (const char* const defect = place_defect(page, position_)) return damaged(number, defect);
  if (position_ > 0) {
    GM_ASSIGN(below_, entry_at(page, number, position_ - 1));
  } else {
    GM_ASSIGN(below_, beyond_leaf(/*backward=*/true));
  }
  if (position_ < page.count()) {
    GM_ASSIGN(from_, entry_at(page, number, position_));
  } else {
    GM_ASSIGN(from_, beyond_leaf(/*backward=*/false));
  }
  return check_neighbours(key);
}

Result<std::optional<TreeEntry>> TreePath::beyond_leaf(bool backward) {
  const std::vector<Step> way = way_;
  GM_ASSIGN(const bool moved, step(backward));
  std::optional<TreeEntry> entry;
  if (moved) {
    const uint64_t number = way_.back().number;
    const TreePage page = at(number);
    if (const char* const defect = place_defect(page, backward ? page.count() : 0)) {
      return damaged(number, defect);
    }
    GM_ASSIGN(entry, entry_at(page, number, backward ? page.count() - 1 : 0));
  }
  way_ = way;
  return entry;
}

Status TreePath::prove(std::string_view key, const std::optional<TreeEntry>& found,
                       bool found_below) {
  if (map_ == nullptr) return {};
  if (found) {
    GM_ASSIGN(const bool within, prove_within(key, *found, found_below));
    if (within) return check_neighbours(key);
  }
  GM_TRY(prove(key));
  // If this transaction has written the entry, the snapshot does not have it.
  if (trees_.writable()) return found ? check_neighbour(*found) : Status();
  const std::optional<TreeEntry>& own = found_below ? below_ : from_;
  if (found.has_value() != own.has_value() || (found && found->key.data() != own->key.data())) {
    return damaged(way_.empty() ? 0 : way_.back().number, kDisordered);
  }
  return {};
}

Status TreePath::prove(std::string_view key, const TreeReader::Found& found) {
  if (map_ == nullptr) return {};
  GM_ASSIGN(const bool within, prove_within(key, found.entry, false, found.position));
  return within ? check_neighbours(key) : prove(key, found.entry, false);
}

Status TreePath::follow(std::string_view last, std::string_view key, bool backward) {
  if (map_ == nullptr) return {};
  if (is_mapped(key)) {
    const uint64_t number = page_of(key);
    if (!at(number).is_within_nodes(bytes_of(key))) return damaged(number, kMisplaced);
    if (is_mapped(last) && page_of(last) == number) return {};
  }
  if (way_.empty() || resumptions_ != trees_.resumptions()) GM_TRY(descend(last));
  while (!way_.empty()) {
    const Bounds& bounds = way_.back().bounds;
    if (backward ? bounds.low.data() == nullptr || key >= bounds.low
                 : bounds.high.data() == nullptr || key < bounds.high) {
      return {};
    }
    GM_TRY(check_leaf());
    GM_ASSIGN(const bool moved, step(backward));
    if (!moved) return {};
    // Backward, LMDB enters this leaf at its last entry. Prove that no entry is missing after it.
    if (backward) GM_TRY(check_leaf());
  }
  return {};
}

Status TreePath::check_leaf() {
  const uint64_t number = way_.back().number;
  if (number == whole_leaf_) return {};
  if (const char* const defect = at(number).entries_defect(TreePage::Holds::kValues)) {
    return damaged(number, defect);
  }
  whole_leaf_ = number;
  return {};
}

Status TreePath::prove_end(std::string_view last, std::string_view bound,
                           const std::optional<TreeEntry>& found, bool backward) {
  if (map_ == nullptr) return {};
  const bool in_one_leaf =
      found && is_mapped(found->key) && is_mapped(last) && page_of(found->key) == page_of(last);
  if (!in_one_leaf) GM_TRY(follow(last, bound, backward));
  GM_TRY(prove(bound, found, backward));
  // The snapshot still has the entries that this transaction has removed.
  if (of_snapshot_ && trees_.writable()) return {};
  // `last` itself may have been removed since, so the neighbour may lie before it, but not after
  // it.
  const std::optional<TreeEntry>& end = backward ? from_ : below_;
  if (end && (backward ? end->key < last : end->key > last)) {
    return damaged(page_of(end->key), kDisordered);
  }
  return {};
}

}  // namespace gridmount::local
