// Page accounting finds the use of each page of data.mdb in a snapshot. A page belongs to a tree,
// to a large value, or to the list of free pages. LMDB overwrites the pages in the list. So if a
// page in use is also in the list, the next commits destroy it. A page that is neither in use nor
// in the list is never used again.
//
// The accounting reads the pages of the trees without LMDB. It keeps two bits for each page of the
// file.
//
// With a visitor, the accounting also salvages the entries of the trees. In a damaged leaf, it
// salvages the entries that it can still find. It also finds the leaves below a damaged branch:
// these are neither in a tree nor in the list of free pages.
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
  // Another line says that the list of free pages has the wrong length.
  std::vector<std::string> problems;  // up to kPageProblemsMax, then one line that says that there
                                      // are more
  // Pages that are neither in use nor free. Unknown, and therefore 0, if a damaged page hides the
  // pages below it.
  uint64_t leaked = 0;
  uint64_t first_leaked = 0;
  // The number of damaged pages to which the trees lead.
  uint64_t damaged = 0;
  // True if the accounting has not searched for pages below damaged ones, because the list of free
  // pages is damaged too. It then cannot distinguish a current page from an older state of the
  // page.
  bool hides_pages = false;
};
inline constexpr size_t kPageProblemsMax = 100;

// Receives the entries and damaged pages that the accounting finds. Views are valid until the call
// returns. If a call returns an error, the accounting ends and returns this error.
class PageVisitor {
 public:
  struct Found {
    // The name of the tree that led to the page; empty if none did. It may be the wrong tree if
    // branches are damaged.
    std::string_view tree;
    bool certain = false;               // true: the page is sound; false: the entry may be damaged
    bool has_pages_of_its_own = false;  // the value is not in the page of the entry
    TreeEntry entry;                    // the value is empty if its pages do not exist
  };
  struct Damaged {
    uint64_t page = 0;
    std::string_view tree;
    const char* what = nullptr;
    std::string_view bytes;
  };
  virtual ~PageVisitor() = default;
  // found() is called for each entry of the named trees, and may be called more than once for an
  // entry. damaged() is called for each damaged page to which a tree leads.
  virtual Status found(const Found& found) = 0;
  virtual Status damaged(const Damaged& damaged) = 0;
};

class PageAccounting {
 public:
  // `map` is the address of the map of data.mdb. A visitor must outlive this object.
  PageAccounting(const uint8_t* map, uint32_t page_bytes, PageVisitor* visitor = nullptr)
      : map_(map), page_bytes_(page_bytes), visitor_(visitor) {}

  // Runs the accounting; may be called once. A read transaction of the snapshot must be open. Fails
  // with StoreDamaged if the snapshot's meta page no longer exists, and with the error of the
  // visitor. Damage of other pages is no error.
  Result<PageReport> run(uint64_t snapshot);

 private:
  using Holds = TreePage::Holds;

  // `record` is the tree's record in the meta page or in the main tree.
  void tree(const uint8_t* record, Holds holds, const std::string& name);
  void page(uint64_t number, size_t level, Holds holds, const std::string& name);
  void leaf_node(const TreePage::Node& node, Holds holds, const std::string& name);
  void free_list(const TreePage::Node& node);
  // These functions call the visitor, if there is one. show_lost_leaves() returns whether there
  // were lost leaves.
  void show_damaged(uint64_t number, Holds holds, const std::string& name, const char* what);
  void show(const TreePage::Node& node, std::string_view tree, bool certain);
  bool show_lost_leaves();
  // Shows the leaves that are both in a tree and in the list of free pages. Must be called only if
  // no leaf is lost: the list is then wrong, and not the tree.
  void show_claimed();
  // Returns a text if the page's keys are not in order, or do not follow the last key of the leaf
  // before. Otherwise returns nullptr.
  const char* order_defect(const TreePage& page, Holds holds);
  // Marks the page as used. Returns false if it does not exist or is in use already.
  bool use(uint64_t number, const std::string& name);
  // The overflow pages of the tree that is being read.
  struct ValuePages {
    uint64_t held = 0;  // how many pages the headers claim
    // Pages that values have but do not need: the first page, and how many.
    std::vector<std::pair<uint64_t, uint64_t>> beyond = {};
  };
  // Marks the pages of a large value as used. Returns the address of the first page, or null if the
  // pages are not the value's.
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
  std::string_view last_key_;     // of the previous leaf in the tree that is being read
  bool sees_all_ = true;
  bool left_out_ = false;
  PageVisitor* const visitor_;
  Status visited_;
  PageReport report_;
};

}  // namespace gridmount::local
