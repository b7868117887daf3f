// What each page of data.mdb is used for in a snapshot: by a tree, by a large value, or by nothing,
// as the list of free pages says. LMDB writes over what the list has, so a page that is in use as
// well is lost with the next commits; one that is in neither is never used again.
//
// Reads the trees' pages themselves, without LMDB, and keeps two bits for each page of the file.
//
// With a visitor it shows what the trees hold, as far as it can still be read: pages that are not
// what they should be are passed over, and what no tree leads to any more, because a branch above
// it is damaged, is found by its being in no list.
//
// Thread-safety: none.
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
  // Of the list of free pages: pages that are in it and in use, that are in it twice, or that the
  // file does not have; and pages in use twice. One line each, naming the page.
  std::vector<std::string> problems;  // at most kPageProblemsMax, then a line that says so
  // Neither in use nor free. Not known, and so 0, where a damaged page hides what is below it.
  uint64_t leaked = 0;
  uint64_t first_leaked = 0;
  // That the trees lead to and that are not what they should be.
  uint64_t damaged = 0;
  // What is below them has not been looked for, as it cannot be told from an older state of it: the
  // list of free pages is not known either.
  bool hides_pages = false;
};
inline constexpr size_t kPageProblemsMax = 100;

// Views hold until the call returns. An error ends the survey, which then returns it.
class PageVisitor {
 public:
  struct Found {
    // That has led to the page; empty if none has. Where branches are damaged it may be the wrong
    // one.
    std::string_view tree;
    bool certain = false;  // the page is what it should be; else the entry may be anything
    TreeEntry entry;
  };
  struct Damaged {
    uint64_t page = 0;
    std::string_view tree;
    const char* what = nullptr;
    std::string_view bytes;
  };
  virtual ~PageVisitor() = default;
  // An entry of a tree of values; some are shown more than once.
  virtual Status found(const Found& found) = 0;
  virtual Status damaged(const Damaged& damaged) = 0;
};

class PageSurvey {
 public:
  // `map` is where data.mdb is mapped.
  PageSurvey(const uint8_t* map, uint32_t page_bytes, PageVisitor* visitor = nullptr)
      : map_(map), page_bytes_(page_bytes), visitor_(visitor) {}

  // A reader must hold the snapshot. StoreDamaged if its meta page is not there any more.
  Result<PageReport> run(uint64_t snapshot);

 private:
  using Holds = TreePage::Holds;

  // `record` is what the meta page or the main tree has of it.
  void tree(const uint8_t* record, Holds holds, const std::string& name);
  void page(uint64_t number, size_t level, Holds holds, const std::string& name);
  void leaf_node(const TreePage::Node& node, Holds holds, const std::string& name);
  void free_list(const TreePage::Node& node);
  // For the visitor.
  void show_damaged(uint64_t number, Holds holds, const std::string& name, const char* what);
  void show(const TreePage::Node& node, std::string_view tree, bool certain);
  // Whether there are any.
  bool show_lost_leaves();
  // Pages that a tree leads to and that are in the list of free pages: if no other page has been
  // lost, it is the list that is wrong.
  void show_claimed();
  // How a page's keys contradict each other and those of the leaves before.
  const char* order_defect(const TreePage& page, Holds holds);
  // Whether the page was there to be taken.
  bool use(uint64_t number, const std::string& name);
  // Of the large values of the tree that is being read.
  struct ValuePages {
    uint64_t held = 0;  // by what their headers say
    // What they hold beyond their needs: first page and how many.
    std::vector<std::pair<uint64_t, uint64_t>> beyond = {};
  };
  // Of a large value; its first page, or null if these are not its pages.
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
  std::vector<Claimed> claimed_;  // of trees of values or of trees
  std::string_view last_key_;     // of the leaves of the tree that is being read
  bool sees_all_ = true;
  bool left_out_ = false;
  PageVisitor* const visitor_;
  Status visited_;
  PageReport report_;
};

}  // namespace gridmount::local
