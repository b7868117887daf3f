// Which chunks of an open file are known to be holes: absent within its length.
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
  int64_t chunks() const { return chunks_; }  // in all of them
  bool contains(int64_t n) const;
  // The first chunk at or behind `n` that is no hole, if `n` is one; else `n`.
  int64_t end_of_run(int64_t n) const;

  // The first hole at or behind `n`, or the largest number.
  int64_t next_run(int64_t n) const;

  // Where there is no memory for them (std::bad_alloc), these change nothing.
  void add(int64_t first, int64_t last);  // [first, last)
  void fill(int64_t n);
  void cut(int64_t end);  // forgets everything from chunk `end` on
  void clear();

 private:
  std::map<int64_t, int64_t> runs_;  // first to last, exclusive; never touching each other
  int64_t chunks_ = 0;
};

}  // namespace gridmount::gridfs
