// The known holes of an open file: chunks within the file's length that the store does not have.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace gridmount::gridfs {

class Holes {
 public:
  bool empty() const { return runs_.empty(); }
  size_t runs() const { return runs_.size(); }
  int64_t chunks() const { return chunks_; }  // in all runs together
  bool contains(int64_t n) const;
  // Returns the first chunk after the hole that contains chunk `n`, or `n` if chunk `n` is no hole.
  int64_t end_of_run(int64_t n) const;

  // Returns the first chunk at or after `n` that is a hole, or the largest int64 if there is none.
  int64_t next_run(int64_t n) const;

  // If there is no memory (std::bad_alloc), these functions change nothing.
  void add(int64_t first, int64_t last);  // [first, last)
  // Records that chunk `n` is no hole any more.
  void fill(int64_t n);
  void cut(int64_t end);  // removes everything from chunk `end` on
  void clear();

 private:
  std::map<int64_t, int64_t> runs_;  // first to last, exclusive; runs never touch each other
  int64_t chunks_ = 0;
};

}  // namespace gridmount::gridfs
