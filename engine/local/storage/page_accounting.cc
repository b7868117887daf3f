#include "engine/local/storage/page_accounting.h"

#include <array>
#include <cstring>
#include <utility>

#include "engine/local/format/lmdb_layout.h"

namespace gridmount::local {
namespace {

using lmdb::read;

std::string page_name(uint64_t number) {
  return "data.mdb: page " + std::to_string(number);
}

}  // namespace

Result<PageReport> PageAccounting::run(uint64_t snapshot) {
  const uint8_t* const meta = map_ + snapshot % 2 * page_bytes_;
  last_page_ = read<uint64_t>(meta + lmdb::kLastPageOffset);
  // Copy the records, because the second commit from now overwrites this meta page.
  std::array<uint8_t, 2 * lmdb::kTreeRecordBytes> records{};
  std::memcpy(records.data(), meta + lmdb::kFreeTreeOffset, records.size());
  if (read<uint64_t>(meta + lmdb::kTransactionOffset) != snapshot) {
    return fail(ErrorCode::kStoreDamaged, "data.mdb: the snapshot's meta page was overwritten");
  }
  used_.assign(last_page_ + 1, false);
  free_.assign(last_page_ + 1, false);
  // Read the list of free pages first, so that the trees' pages can be checked against it.
  tree(records.data(), Holds::kIntegers, "free pages");
  const bool sees_list = std::exchange(sees_all_, true);
  // A free page may be an older state of a page in use. So lost leaves can only be distinguished
  // from free ones if the list is sound.
  const bool knows_free = sees_list && report_.problems.empty();
  tree(records.data() + lmdb::kTreeRecordBytes, Holds::kTrees, "main");
  report_.hides_pages = !knows_free && !sees_all_;
  if (visitor_ != nullptr && knows_free && !sees_all_ && !show_lost_leaves()) show_claimed();
  GM_TRY(visited_);
  sees_all_ = sees_all_ && sees_list;
  for (uint64_t number = 2; sees_all_ && number <= last_page_; ++number) {
    if (used_[number] || free_[number]) continue;
    if (report_.leaked++ == 0) report_.first_leaked = number;
  }
  if (left_out_) report_.problems.emplace_back("data.mdb: more pages have such problems");
  return std::move(report_);
}

void PageAccounting::problem(std::string text) {
  if (report_.problems.size() < kPageProblemsMax) {
    report_.problems.push_back(std::move(text));
  } else {
    left_out_ = true;
  }
}

bool PageAccounting::use(uint64_t number, const std::string& name) {
  // Do not report an impossible page number here. Checks that read the tree report it.
  if (number < 2 || number > last_page_) return sees_all_ = false;
  if (used_[number]) {
    problem(page_name(number) + " of the tree '" + name + "' is also in use elsewhere");
    return sees_all_ = false;
  }
  used_[number] = true;
  if (free_[number]) {
    problem(page_name(number) + " of the tree '" + name + "' is in the list of free pages");
  }
  return true;
}

void PageAccounting::tree(const uint8_t* record_at, Holds holds, const std::string& name) {
  ValuePages of_parent = std::exchange(values_, {});
  const std::string_view key_of_parent = std::exchange(last_key_, {});
  const lmdb::TreeRecord record = lmdb::tree_record(record_at);
  if (record.root != lmdb::kNoPage) page(record.root, 1, holds, name);
  // Headers that claim more pages than their values need are right if all headers together claim as
  // many pages as the tree counts.
  if (values_.held == record.overflow_pages) {
    for (const auto& [first, count] : values_.beyond) {
      for (uint64_t i = 0; i < count; ++i) (void)use(first + i, name);
    }
  } else {
    sees_all_ = false;
  }
  values_ = std::move(of_parent);
  last_key_ = key_of_parent;
}

// The first key of a branch has no meaning and is not compared.
const char* PageAccounting::order_defect(const TreePage& page, Holds holds) {
  if (holds == Holds::kIntegers) return nullptr;
  constexpr const char* kDisordered = "its keys are out of order";
  std::string_view last = page.is_branch() ? std::string_view() : last_key_;
  for (size_t i = page.is_branch() ? 1 : 0; i < page.count(); ++i) {
    const std::string_view key = page.key(i);
    if (last.data() != nullptr && key <= last) return kDisordered;
    last = key;
  }
  if (!page.is_branch()) last_key_ = last;
  return nullptr;
}

void PageAccounting::page(uint64_t number, size_t level, Holds holds, const std::string& name) {
  if (!visited_ || !use(number, name)) return;
  const TreePage found = at(number);
  const char* defect =
      level > lmdb::kTreeDepthMax ? "it is too far down" : found.header_defect(number);
  if (defect == nullptr) defect = found.entries_defect(holds);
  if (defect == nullptr) defect = order_defect(found, holds);
  if (defect == nullptr && visitor_ != nullptr && free_[number]) {
    defect = "it is in the list of free pages";
    claimed_.push_back({number, name});
  }
  // Only count the damaged page here. Checks that read the tree report its defect.
  if (defect != nullptr) {
    sees_all_ = false;
    ++report_.damaged;
    show_damaged(number, holds, name, defect);
    return;
  }
  for (size_t i = 0; i < found.count(); ++i) {
    const TreePage::Node node = found.node(i);
    if (found.is_branch()) {
      page(node.child, level + 1, holds, name);
    } else {
      leaf_node(node, holds, name);
    }
  }
}

void PageAccounting::leaf_node(const TreePage::Node& node, Holds holds, const std::string& name) {
  switch (holds) {
    case Holds::kValues:
      if (node.in_pages_of_its_own) (void)use_value(node, name);
      show(node, name, true);
      return;
    case Holds::kTrees:
      return tree(node.value, Holds::kValues, std::string(node.key));
    case Holds::kIntegers:
      return free_list(node);
  }
}

// Shows the damaged page and the entries that can be salvaged from it (leaf_nodes_of_damaged()).
void PageAccounting::show_damaged(uint64_t number, Holds holds, const std::string& name,
                                  const char* what) {
  if (visitor_ == nullptr) return;
  const TreePage found = at(number);
  visited_ = visitor_->damaged(
      {number,
       name,
       what,
       {reinterpret_cast<const char*>(map_ + number * page_bytes_), page_bytes_}});
  if (holds != Holds::kValues || free_[number] || found.is_branch()) return;
  for (const TreePage::Node& node : found.leaf_nodes_of_damaged()) show(node, name, false);
}

void PageAccounting::show(const TreePage::Node& node, std::string_view tree, bool certain) {
  if (visitor_ == nullptr || !visited_) return;
  std::string_view value(reinterpret_cast<const char*>(node.value), node.bytes);
  if (node.in_pages_of_its_own) {
    const auto first = read<uint64_t>(node.value);
    const uint64_t needed = lmdb::overflow_pages_needed(node.bytes, page_bytes_);
    const bool exists = node.bytes <= kValueBytesMax && first >= 2 && first <= last_page_ &&
                        needed <= last_page_ - first + 1;
    value = {};
    if (exists) {
      const uint8_t* const begin = map_ + first * page_bytes_ + lmdb::kPageHeaderBytes;
      value = std::string_view(reinterpret_cast<const char*>(begin), node.bytes);
    }
  }
  visited_ = visitor_->found({tree, certain, node.in_pages_of_its_own, {node.key, value}});
}

bool PageAccounting::show_lost_leaves() {
  bool any = false;
  for (uint64_t number = 2; visited_ && number <= last_page_; ++number) {
    if (used_[number] || free_[number]) continue;
    const TreePage lost = at(number);
    if (lost.header_defect(number) != nullptr || lost.is_branch() ||
        lost.entries_defect(Holds::kValues) != nullptr) {
      continue;
    }
    any = true;
    for (size_t i = 0; i < lost.count(); ++i) show(lost.node(i), {}, false);
  }
  return any;
}

// Skips branches: the leaves below them are shown on their own.
void PageAccounting::show_claimed() {
  for (const Claimed& claimed : claimed_) {
    const TreePage page = at(claimed.page);
    if (page.header_defect(claimed.page) != nullptr || page.is_branch()) continue;
    for (const TreePage::Node& node : page.leaf_nodes_of_damaged()) {
      show(node, claimed.tree, false);
    }
  }
}

// A value that has replaced a larger one may hold more pages than it needs (overflow_page.h).
const uint8_t* PageAccounting::use_value(const TreePage::Node& node, const std::string& name) {
  const auto first = read<uint64_t>(node.value);
  const uint64_t needed = lmdb::overflow_pages_needed(node.bytes, page_bytes_);
  sees_all_ = sees_all_ && first >= 2 && first <= last_page_;
  if (first < 2 || first > last_page_) return nullptr;
  const uint8_t* const begin = map_ + first * page_bytes_;
  const uint64_t held = lmdb::overflow_pages(begin);
  if (!lmdb::is_overflow_page(begin, first) || held < needed || held > last_page_ - first + 1) {
    sees_all_ = false;
    return nullptr;
  }
  values_.held += held;
  if (held > needed) values_.beyond.emplace_back(first + needed, held - needed);
  bool all = true;
  for (uint64_t i = 0; i < needed; ++i) all = use(first + i, name) && all;
  return all ? begin : nullptr;
}

void PageAccounting::free_list(const TreePage::Node& node) {
  const uint8_t* list = node.value;
  if (node.in_pages_of_its_own) {
    const uint8_t* const begin = use_value(node, "free pages");
    if (begin == nullptr) return;
    list = begin + lmdb::kPageHeaderBytes;
  }
  const uint64_t room = node.bytes / sizeof(uint64_t);
  const uint64_t count = room == 0 ? 0 : read<uint64_t>(list);
  if (room == 0 || count > room - 1) {
    problem("data.mdb: a list of free pages does not have the length that it claims");
    sees_all_ = false;
    return;
  }
  for (uint64_t i = 1; i <= count; ++i) {
    const auto number = read<uint64_t>(list + i * sizeof(uint64_t));
    if (number < 2 || number > last_page_) {
      problem("data.mdb: the list of free pages has page " + std::to_string(number) +
              ", which the file does not have");
    } else if (free_[number]) {
      problem(page_name(number) + " is in the list of free pages twice");
    } else {
      free_[number] = true;
      if (used_[number])
        problem(page_name(number) + " holds part of the list of free pages and is also in it");
    }
  }
}

}  // namespace gridmount::local
