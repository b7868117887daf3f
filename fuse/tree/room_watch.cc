#include "fuse/tree/room_watch.h"

#include <algorithm>

namespace gridmount::fuse {
namespace {

// The next check is due when this fraction of the free space may have been used.
constexpr int64_t kPart = 8;
constexpr int64_t kStepBytesMin = int64_t{4} << 20;
constexpr int64_t kStepBytesMax = int64_t{64} << 20;
constexpr std::chrono::milliseconds kLookInterval{10};

}  // namespace

void RoomWatch::record_written(uint64_t bytes) {
  const auto written = static_cast<int64_t>(bytes);
  if (bytes_to_check_.fetch_sub(written, std::memory_order_relaxed) <= written) check_now();
}

void RoomWatch::check() {
  if (std::chrono::steady_clock::now() - checked_at_.load() >= kLookInterval) check_now();
}

void RoomWatch::check_now() {
  if (is_checking_.exchange(true)) return;
  // The destructor runs even if an exception is thrown.
  struct End {
    std::atomic<bool>& is_looking;
    ~End() { is_looking = false; }
  } const end{is_checking_};
  const Result<engine::StoreStats> stats = store_.stats();
  // If the store cannot report its free space, nothing changes.
  if (stats) {
    const int64_t left = stats->available_bytes;
    if ((left < kScarceBytes) != is_scarce()) episode_.fetch_add(1, std::memory_order_relaxed);
    is_short_ = left < kShortBytes;
    bytes_to_check_ = std::clamp(left / kPart, kStepBytesMin, kStepBytesMax);
  }
  checked_at_ = std::chrono::steady_clock::now();
}

}  // namespace gridmount::fuse
