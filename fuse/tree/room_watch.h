// Detects that the store has so little free space that each write(2) must be checked. The kernel
// keeps written data in its cache long before the store gets it. Without the check, a program would
// learn of a full disk only when it closes the file.
//
// Method: while free space is scarce, the kernel may keep the attributes of files that are open for
// writing only for some milliseconds. While free space is short, it may not keep them at all. So
// the kernel asks for the attributes, with the writer's handle, before a write(2) to its cache. An
// error in that reply becomes the error of write(2) (FileSystem::expect_room()).
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "engine/store.h"

namespace gridmount::fuse {

class RoomWatch {
 public:
  // Below this, free space is scarce: while a program writes, the kernel asks every few
  // milliseconds.
  static constexpr int64_t kScarceBytes = int64_t{256} << 20;
  // Below this, free space is short: the kernel asks before each write(2). Before the answer,
  // FileSystem::expect_room() commits the dirty chunks of the file if they have 1 MiB or more. At
  // every 16th request with the same handle, it also makes the kernel write back its cache.
  static constexpr int64_t kShortBytes = int64_t{64} << 20;

  // `store` must outlive this object.
  explicit RoomWatch(engine::Store& store) : store_(store) {}

  // Counts bytes that the kernel has, or may have, written to the daemon. After enough bytes,
  // checks the free space.
  void record_written(uint64_t bytes);
  // Checks the free space now, unless it was checked a moment ago.
  void check();

  bool is_scarce() const { return episode_.load(std::memory_order_relaxed) % 2 != 0; }
  bool is_short() const { return is_short_.load(std::memory_order_relaxed); }
  // Returns a number that changes whenever free space becomes scarce, and whenever it no longer is.
  uint64_t episode() const { return episode_.load(std::memory_order_relaxed); }

 private:
  // Does nothing, and does not wait, if another thread is checking.
  void check_now();

  engine::Store& store_;
  std::atomic<uint64_t> episode_{0};  // odd while room is scarce
  std::atomic<bool> is_short_{false};
  std::atomic<int64_t> bytes_to_check_{0};  // bytes to be written until the next check
  std::atomic<bool> is_checking_{false};
  std::atomic<std::chrono::steady_clock::time_point> checked_at_{};
};

}  // namespace gridmount::fuse
