// The contents that a file may have in the daemon. The kernel hands over written pages to the
// daemon in any order.
//
// Each page has candidates: its state at the last moment when all pages had been handed over, and
// every later state. A page may also mix the bytes of two successive candidates, because the kernel
// lets users write to a page while it copies the page. The length may be any length that the file
// has had since then, or the end of any page in between.
//
// The daemon takes the pages of one request chunk by chunk, and may commit before it has taken the
// last one. So the two parts of a page that belong to two chunks may have different states, and the
// length may be the end of a chunk.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gridmount::fuse::testing {

class PossibleContent {
 public:
  // The file is certainly empty.
  PossibleContent() = default;

  // The content is exactly this.
  void set(const std::string& content);
  // `size` bytes from `offset` on may now also have been written back. `content` is the whole file
  // as the user sees it.
  void may_have(const std::string& content, size_t offset, size_t size);
  // These bytes have certainly been written back. If `grows`, the file in the daemon now reaches at
  // least to the end of their last page, or of `content`.
  void has(const std::string& content, size_t offset, size_t size, bool grows);
  // The file was truncated, or extended with zeros.
  void resize(size_t size);

  // Returns true if the file may have this content. `chunk_bytes` is the size of the daemon's
  // chunks.
  bool allows(std::string_view content, size_t chunk_bytes) const;

 private:
  // The possible states of a page, in the order in which they arose. Each has its own length, and
  // zeros follow. A page that was never written back has no candidates, and consists of zeros.
  using Candidates = std::vector<std::string>;

  // `part` begins at the byte `from` of the page.
  static bool allows(const Candidates& candidates, size_t from, std::string_view part);
  Candidates& candidates_of(size_t page);

  std::vector<Candidates> pages_;
  std::set<size_t> lengths_ = {0};
};

}  // namespace gridmount::fuse::testing
