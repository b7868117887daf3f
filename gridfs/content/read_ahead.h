// Detects that a file is read in order, and computes what to prefetch from this machine's disk.
// read_window.h decides what to fetch ahead over a network.
//
// Not thread-safe.
#pragma once

#include <cstdint>

namespace gridmount::gridfs {

class ReadAhead {
 public:
  struct Advice {
    bool sequential = false;
    // The file offsets [begin, end) to prefetch. Nothing if begin >= end.
    int64_t begin = 0;
    int64_t end = 0;
  };

  // Must be called for each read. The kernel sends several reads at a time, which may arrive in any
  // order.
  Advice record_read(int64_t offset, int64_t size) {
    const bool near = offset >= end_ - kDisorderBytes && offset <= end_ + kDisorderBytes;
    run_bytes_ = near ? run_bytes_ + size : 0;
    if (!near) asked_to_ = 0;
    end_ = near ? (offset + size > end_ ? offset + size : end_) : offset + size;
    Advice advice;
    advice.sequential = run_bytes_ > 0;
    if (!advice.sequential) return advice;
    // Prefetches in large steps, so that most reads prefetch nothing.
    if (end_ + kWindowBytes / 2 < asked_to_) return advice;
    advice.begin = asked_to_ > end_ ? asked_to_ : end_;
    advice.end = end_ + kWindowBytes;
    asked_to_ = advice.end;
    return advice;
  }

 private:
  static constexpr int64_t kWindowBytes = 4 * 1024 * 1024;
  static constexpr int64_t kDisorderBytes = 1024 * 1024;

  int64_t end_ = 0;
  int64_t run_bytes_ = 0;
  int64_t asked_to_ = 0;
};

}  // namespace gridmount::gridfs
