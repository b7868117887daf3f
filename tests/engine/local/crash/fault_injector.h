// Makes one call to the C library fail: the n-th write, sync, change of a file's size, mapping or
// allocation.
//
// file_calls.cc and memory_calls.cc replace the C library's calls and ask the injector before each
// call. Calls on files outside the folder are not counted.
//
// Thread-safe. Allocates nothing, because it is also called before allocations.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gridmount::local::testing {

enum class FaultKind { kNone, kWrite, kSync, kResize, kMap, kAllocation };

struct Fault {
  FaultKind kind = FaultKind::kNone;
  uint64_t number = 0;   // the first call that fails, counted from 1
  bool lasting = false;  // all later calls fail too
  int code = 0;          // errno
};

class FaultInjector {
 public:
  static FaultInjector& instance();

  // Starts counting. `folder` must stay valid until disarm().
  void arm(const Fault& fault, const char* folder);
  void disarm() { armed_ = false; }
  bool fired() const { return fired_; }
  uint64_t seen() const { return seen_; }

  // Returns true if this call must fail. In this case also sets errno.
  bool fails(FaultKind kind) {
    return armed_.load(std::memory_order_relaxed) && fault_.kind == kind && count();
  }
  bool fails(FaultKind kind, int fd) {
    return armed_.load(std::memory_order_relaxed) && fault_.kind == kind && is_counted(fd) &&
           count();
  }

 private:
  bool count();
  bool is_counted(int fd) const;

  std::atomic<bool> armed_ = false;
  std::atomic<bool> fired_ = false;
  std::atomic<uint64_t> seen_ = 0;
  Fault fault_;
  const char* folder_ = nullptr;
  size_t folder_bytes_ = 0;
};

}  // namespace gridmount::local::testing
