// Whether the store has so little room left that writers must be asked before each write(2): the
// kernel takes what is written into its cache, far ahead of the store, and would tell of a full
// disk only when the file is closed.
//
// Method: while room is scarce the kernel may not keep the attributes of files that are open for
// writing. Before each write(2) to its cache it asks for them by the writer's handle, and what is
// answered is what write(2) returns (FileSystem::expect_room()).
//
// Thread-safety: thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "engine/store.h"

namespace gridmount::fuse {

class RoomWatch {
 public:
  // With less than this, writers are asked.
  static constexpr int64_t kScarceBytes = int64_t{256} << 20;
  // With less than this, what the kernel has is handed over and committed before more is taken.
  static constexpr int64_t kShortBytes = int64_t{64} << 20;

  // `store` must outlive this.
  explicit RoomWatch(engine::Store& store) : store_(store) {}

  // So much has been handed over to the daemon, or may have been.
  void note_written(uint64_t bytes);
  // Looks now, if it has not within the last moment.
  void look();

  bool is_scarce() const { return episode_.load(std::memory_order_relaxed) % 2 != 0; }
  bool is_short() const { return is_short_.load(std::memory_order_relaxed); }
  // A number of its own for each time in which room is scarce, and each in which it is not.
  uint64_t episode() const { return episode_.load(std::memory_order_relaxed); }

 private:
  // Unless another thread is at it, which nobody need wait for.
  void look_now();

  engine::Store& store_;
  std::atomic<uint64_t> episode_{0};  // odd while room is scarce
  std::atomic<bool> is_short_{false};
  std::atomic<int64_t> bytes_to_look_{0};  // to be written until the next look
  std::atomic<bool> is_looking_{false};
  std::atomic<std::chrono::steady_clock::time_point> looked_at_{};
};

}  // namespace gridmount::fuse
