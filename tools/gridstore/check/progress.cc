#include "tools/gridstore/check/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace gridmount::tools {

namespace {

constexpr std::chrono::milliseconds kInterval{200};
// Reading the clock costs about as much as reading a small record.
constexpr uint64_t kRecordsPerLook = 64;

}  // namespace

Progress::Progress()
    : is_terminal_(::isatty(STDERR_FILENO) == 1), next_(Clock::now() + kInterval) {}

void Progress::record_read() {
  ++read_;
  if (!is_terminal_ || total_ == 0 || read_ % kRecordsPerLook != 0) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  show();
}

void Progress::show() {
  constexpr uint64_t kWhole = 100;
  // The store may have grown after the records were counted.
  const uint64_t percent = std::min(read_ * kWhole / total_, kWhole);
  fprintf(stderr, "\r\033[K%3llu %% of %llu records read", static_cast<unsigned long long>(percent),
          static_cast<unsigned long long>(total_));
  fflush(stderr);
  visible_ = true;
}

void Progress::hide() {
  if (!visible_) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  visible_ = false;
}

}  // namespace gridmount::tools
