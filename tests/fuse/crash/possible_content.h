// The possible contents of a file for a daemon to which the kernel hands over written pages in any
// order.
//
// Each page has candidates: its state when all pages had been handed over, and every state since.
// The length may be any that the file has had since, or the end of any page in between.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gridmount::fuse::testing {

class PossibleContent {
 public:
  // Empty for certain.
  PossibleContent() = default;

  // That and nothing else.
  void set(const std::string& content);
  // The bytes from `offset` on may have been handed over, too; the whole is `content` then.
  void may_have(const std::string& content, size_t offset, size_t size);
  // They have been for certain; `grows`: up to the end of their last page, or the file's.
  void has(const std::string& content, size_t offset, size_t size, bool grows);
  // Was cut or made longer by zeros.
  void resize(size_t size);

  bool allows(std::string_view content) const;

 private:
  // As long as they were; zeros follow. In the order in which they came. A page that nothing was
  // handed over of has none, and is zeros.
  using Candidates = std::vector<std::string>;

  static bool allows(const Candidates& candidates, std::string_view page);
  Candidates& candidates_of(size_t page);

  std::vector<Candidates> pages_;
  std::set<size_t> lengths_ = {0};
};

}  // namespace gridmount::fuse::testing
