// What fallocate(2) has allocated of a file beyond what is stored of it: ranges of bytes, for
// st_blocks. No room is kept for them.
//
// There are at most kRunsMax runs, as they stand in the files document: where a change would make
// more, the shortest is forgotten, which then does not count.
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

  // [begin, end), 0 <= begin < end.
  struct Run {
    int64_t begin = 0;
    int64_t end = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };

  // Ascending, none touching the next.
  const std::vector<Run>& runs() const { return runs_; }
  bool empty() const { return runs_.empty(); }
  int64_t bytes() const;

  // Whether they change anything. A range that ends before it begins is empty.
  bool add(int64_t begin, int64_t end);
  bool remove(int64_t begin, int64_t end);
  // Forgets everything from `end` on.
  bool cut(int64_t end);

  friend bool operator==(const AllocatedRanges&, const AllocatedRanges&) = default;

 private:
  void keep_to_the_most();

  std::vector<Run> runs_;
};

}  // namespace gridmount::gridfs
