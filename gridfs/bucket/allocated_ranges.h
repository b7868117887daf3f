// The ranges of a file that fallocate(2) has allocated and that have no stored content: holes, and
// ranges after the end of the file. The ranges count in st_blocks, but reserve no disk space.
//
// A files document has at most kRunsMax runs. If a change creates one more, the shortest run is
// removed and no longer counts.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gridmount::gridfs {

class AllocatedRanges {
 public:
  static constexpr size_t kRunsMax = 64;

  // [begin, end), 0 <= begin < end
  struct Run {
    int64_t begin = 0;
    int64_t end = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };

  // Ascending. No run touches the next.
  const std::vector<Run>& runs() const { return runs_; }
  bool empty() const { return runs_.empty(); }
  int64_t bytes() const;

  // add(), remove() and cut() return true if they change anything. A range is empty if `end` <=
  // `begin`.
  bool add(int64_t begin, int64_t end);
  bool remove(int64_t begin, int64_t end);
  // Removes everything from `end` on.
  bool cut(int64_t end);

  friend bool operator==(const AllocatedRanges&, const AllocatedRanges&) = default;

 private:
  void enforce_run_limit();

  std::vector<Run> runs_;
};

}  // namespace gridmount::gridfs
