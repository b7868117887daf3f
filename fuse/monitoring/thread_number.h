// Numbers the threads of the process. A thread uses its number to choose a part of a shared table
// that few other threads use. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>

namespace gridmount::fuse {

// Returns the calling thread's number: 0, 1, 2, ... in the order of the threads' first calls. A
// number is never used again.
inline size_t thread_number() {
  static std::atomic<size_t> threads{0};
  thread_local const size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace gridmount::fuse
