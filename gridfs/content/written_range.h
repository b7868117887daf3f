// Records how far a chunk has been written from its beginning on. The class is meant for pieces
// that come in order or nearly in order.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gridmount::gridfs {

class WrittenRange {
 public:
  WrittenRange() = default;
  explicit WrittenRange(uint32_t end) : end_(end) {}

  // Returns the number of bytes from the beginning on that are written without a gap. A piece after
  // a gap counts once the gap is filled. Only the last piece after a gap is remembered, so the
  // result may be less than what was written.
  uint32_t end() const { return end_; }

  // Records that the bytes [from, to) are written.
  void add(uint32_t from, uint32_t to) {
    if (from > end_) {
      const bool touches = from <= late_end_ && to >= late_begin_ && late_begin_ < late_end_;
      late_begin_ = touches ? std::min(late_begin_, from) : from;
      late_end_ = touches ? std::max(late_end_, to) : to;
      return;
    }
    end_ = std::max(end_, to);
    if (late_begin_ <= end_) end_ = std::max(end_, late_end_);
  }
  // Records that only the bytes before `end` remain.
  void cut(uint32_t end) {
    end_ = std::min(end_, end);
    late_begin_ = late_end_ = 0;
  }

 private:
  uint32_t end_ = 0;
  uint32_t late_begin_ = 0;
  uint32_t late_end_ = 0;
};

}  // namespace gridmount::gridfs
