#include "engine/local/files/space_reserve.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace gridmount::local {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kStepBytes = uint64_t{64} << 10;
// It is assumed that kPlentyBytes of free space are not used up within kPlentyLasts.
constexpr uint64_t kPlentyBytes = uint64_t{1} << 30;
constexpr std::chrono::milliseconds kPlentyLasts{100};
// How long the disk counts as nearly full after a commit that met a full disk. The commit may be
// tried again in that time.
constexpr std::chrono::seconds kScarcityLasts{2};

}  // namespace

void SpaceReserve::open() {
  if (system::File::open_errno(folder_ / "reserve", O_RDWR | O_CREAT, file_) == 0) fill();
}

void SpaceReserve::fill() {
  // Allocate all at once, or else as much as the disk has room for.
  int code = 0;
  for (uint64_t bytes = kBytes; bytes > bytes_ && code != EOPNOTSUPP; bytes -= kStepBytes) {
    code = ::fallocate(file_.fd(), 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    if (code == 0) bytes_ = bytes;
  }
  // If the file system cannot allocate blocks ahead, write zeros.
  const std::vector<uint8_t> zeros(code == EOPNOTSUPP ? kStepBytes : 0);
  while (!zeros.empty() && bytes_ < kBytes && file_.write(bytes_, zeros)) bytes_ += kStepBytes;
  // Release what a failed attempt has allocated.
  (void)file_.resize(bytes_);
}

SpaceReserve::Room SpaceReserve::room() {
  const Room at_best = Clock::now() < scarce_until_ ? Room::kScarce : Room::kEnough;
  if (!file_.is_open() || Clock::now() < next_check_) return at_best;
  const Result<struct statvfs> file_system = system::file_system_of(folder_);
  // Some remote file systems do not report their size.
  if (!file_system || file_system->f_blocks == 0) return at_best;
  uint64_t bytes = system::free_bytes(*file_system);
  if (bytes >= kPlentyBytes) next_check_ = Clock::now() + kPlentyLasts;
  if (bytes_ < kBytes && bytes > 0) {
    const uint64_t had = bytes_;
    fill();
    bytes -= std::min(bytes, bytes_ - had);
  }
  if (bytes >= kScarceBytes) return at_best;
  return bytes >= kBytes ? Room::kScarce : Room::kNone;
}

void SpaceReserve::record_full_disk() {
  scarce_until_ = Clock::now() + kScarcityLasts;
  next_check_ = {};
  wants_checkpoint_ = true;
}

void SpaceReserve::release() {
  bytes_ = 0;
  (void)file_.resize(0);
}

void SpaceReserve::refill(bool grown) {
  fill();
  // Even if data.mdb has not grown, the reserve may be smaller than before: pages that were holes
  // of data.mdb take room when they are used again.
  if (grown || bytes_ < kBytes) wants_checkpoint_ = true;
}

}  // namespace gridmount::local
