// What each page of data.mdb is used for in a snapshot: by a tree, by a large value, or by nothing,
// as the list of free pages says. LMDB writes over what the list has, so a page that is in use as
// well is lost with the next commits; one that is in neither is never used again.
//
// Reads the trees' pages themselves, without LMDB, and keeps two bits for each page of the file.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/error.h"
#include "engine/local/tree_page.h"

namespace gridmount::local {

struct PageReport {
  // Of the list of free pages: pages that are in it and in use, that are in it twice, or that the
  // file does not have; and pages in use twice. One line each, naming the page.
  std::vector<std::string> problems;  // at most kPageProblemsMax, then a line that says so
  // Neither in use nor free. Not known, and so 0, where a damaged page hides what is below it.
  uint64_t leaked = 0;
  uint64_t first_leaked = 0;
};
inline constexpr size_t kPageProblemsMax = 100;

class PageSurvey {
 public:
  // `map` is where data.mdb is mapped.
  PageSurvey(const uint8_t* map, uint32_t page_bytes) : map_(map), page_bytes_(page_bytes) {}

  // A reader must hold the snapshot. StoreDamaged if its meta page is not there any more.
  Result<PageReport> run(uint64_t snapshot);

 private:
  using Holds = TreePage::Holds;

  // `record` is what the meta page or the main tree has of it.
  void tree(const uint8_t* record, Holds holds, const std::string& name);
  void page(uint64_t number, size_t level, Holds holds, const std::string& name);
  void leaf_node(const TreePage::Node& node, Holds holds, const std::string& name);
  void free_list(const TreePage::Node& node);
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
  bool sees_all_ = true;
  bool left_out_ = false;
  PageReport report_;
};

}  // namespace gridmount::local
