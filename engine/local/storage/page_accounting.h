// Page accounting: finds out what each page of data.mdb is used for in a snapshot. A page belongs
// to a tree, to a large value, or to the list of free pages. LMDB overwrites the pages in the list,
// so a page that is also in use is lost with the next commits. A page that is in neither is never
// used again.
//
// The accounting reads the pages of the trees without LMDB. It keeps two bits for each page of the
// file.
//
// With a visitor, the accounting also salvages what the trees hold. It skips damaged pages. It
// finds the leaves that a damaged branch cuts off: they are neither in a tree nor in the list of
// free pages.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/format/tree_page.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

struct PageReport {
  // One line for each contradiction: a page in the list of free pages that is also in use, is
  // listed twice or does not exist, or a page that is in use twice. Each line names the page.
  std::vector<std::string> problems;  // at most kPageProblemsMax, then a line that says more exist
  // Pages that are neither in use nor free. Unknown, and therefore 0, if a damaged page hides the
  // pages below it.
  uint64_t leaked = 0;
  uint64_t first_leaked = 0;
  // Damaged pages to which the trees lead.
  uint64_t damaged = 0;
  // True if the accounting has not searched for pages below damaged ones, because the list of free
  // pages is damaged too. It then cannot distinguish a current page from an older state of the
  // page.
  bool hides_pages = false;
};
inline constexpr size_t kPageProblemsMax = 100;

// Receives what the accounting finds. Views are valid until the call returns. If a call returns an
// error, the accounting ends and returns that error.
class PageVisitor {
 public:
  struct Found {
    // The tree that led to the page, or empty if none did. May be the wrong tree if branches are
    // damaged.
    std::string_view tree;
    bool certain = false;  // true: the page is sound; false: the entry may be damaged
    TreeEntry entry;
  };
  struct Damaged {
    uint64_t page = 0;
    std::string_view tree;
    const char* what = nullptr;
    std::string_view bytes;
  };
  virtual ~PageVisitor() = default;
  // Called for each entry of the named trees. May be called more than once for an entry.
  virtual Status found(const Found& found) = 0;
  virtual Status damaged(const Damaged& damaged) = 0;
};

class PageAccounting {
 public:
  // `map` is where data.mdb is mapped.
  PageAccounting(const uint8_t* map, uint32_t page_bytes, PageVisitor* visitor = nullptr)
      : map_(map), page_bytes_(page_bytes), visitor_(visitor) {}

  // Runs the accounting. A reader must hold the snapshot. Fails with StoreDamaged if the snapshot's
  // meta page has gone.
  Result<PageReport> run(uint64_t snapshot);

 private:
  using Holds = TreePage::Holds;

  // `record` is the tree's record in the meta page or in the main tree.
  void tree(const uint8_t* record, Holds holds, const std::string& name);
  void page(uint64_t number, size_t level, Holds holds, const std::string& name);
  void leaf_node(const TreePage::Node& node, Holds holds, const std::string& name);
  void free_list(const TreePage::Node& node);
  // These call the visitor, if there is one. show_lost_leaves() returns whether there were any.
  void show_damaged(uint64_t number, Holds holds, const std::string& name, const char* what);
  void show(const TreePage::Node& node, std::string_view tree, bool certain);
  bool show_lost_leaves();
  // Shows pages that are both in a tree and in the list of free pages. Called only if no page is
  // lost. Then the list is wrong, not the tree.
  void show_claimed();
  // Returns how the page's keys contradict each other or the last key of the leaf before, or
  // nullptr.
  const char* order_defect(const TreePage& page, Holds holds);
  // Marks the page as used. Returns false if it does not exist or is in use already.
  bool use(uint64_t number, const std::string& name);
  // The overflow pages of the tree that is being read.
  struct ValuePages {
    uint64_t held = 0;  // how many the headers claim
    // Pages that values hold beyond their needs: the first page and how many.
    std::vector<std::pair<uint64_t, uint64_t>> beyond = {};
  };
  // Marks the pages of a large value as used. Returns the first one, or null if the pages are not
  // those of the value.
  const uint8_t* use_value(const TreePage::Node& node, const std::string& name);
  void problem(std::string text);
  TreePage at(uint64_t number) const { return {map_ + number * page_bytes_, page_bytes_}; }

  const uint8_t* const map_;
  const uint32_t page_bytes_;
  uint64_t last_page_ = 0;
  std::vector<bool> used_;
  std::vector<bool> free_;
  ValuePages values_;
  struct Claimed {
    uint64_t page = 0;
    std::string tree;
  };
  std::vector<Claimed> claimed_;  // pages in use that are in the list of free pages
  std::string_view last_key_;     // of the tree that is being read, in its last leaf
  bool sees_all_ = true;
  bool left_out_ = false;
  PageVisitor* const visitor_;
  Status visited_;
  PageReport report_;
};

}  // namespace gridmount::local
