// The possible contents of a file for a daemon to which the kernel hands over written pages in any
// order.
//
// Each page has candidates: its state when all pages had been handed over, and every state since.
// The length may be any that the file has had since, or the end of any page in between.
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
  // Certainly empty.
  PossibleContent() = default;

  // The content is exactly this.
  void set(const std::string& content);
  // The bytes from `offset` on may have been written back too. The whole file is then `content`.
  void may_have(const std::string& content, size_t offset, size_t size);
  // The bytes have certainly been written back. If `grows`, then up to the end of their last page,
  // or of the file.
  void has(const std::string& content, size_t offset, size_t size, bool grows);
  // The file was truncated, or extended by zeros.
  void resize(size_t size);

  // `chunk_bytes` is the size of the daemon's chunks.
  bool allows(std::string_view content, size_t chunk_bytes) const;

 private:
  // The possible states of a page in the order in which they arose, each with its own length and
  // followed by zeros. A page that was never written back has none, and is zeros.
  using Candidates = std::vector<std::string>;

  // `part` begins at this byte of the page.
  static bool allows(const Candidates& candidates, size_t from, std::string_view part);
  Candidates& candidates_of(size_t page);

  std::vector<Candidates> pages_;
  std::set<size_t> lengths_ = {0};
};

}  // namespace gridmount::fuse::testing
