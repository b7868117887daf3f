#include "fuse/monitoring/watchdog.h"

#include <algorithm>

#include "engine/base/log.h"
#include "engine/base/thread_name.h"

namespace gridmount::fuse {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kShortestPause{1};
constexpr milliseconds kLongestPause{1000};

}  // namespace

Watchdog::Watchdog(OperationsInProgress& operations, milliseconds patience)
    : operations_(operations) {
  if (patience > patience.zero()) thread_ = std::thread([this, patience] { run(patience); });
}

Watchdog::~Watchdog() {
  {
    const MutexLock lock(mutex_);
    is_ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::run(milliseconds patience) {
  name_this_thread("gm-watchdog");
  const milliseconds pause = std::clamp(patience / 4, kShortestPause, kLongestPause);
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (!is_ended_) changed_.wait_for(mutex_, pause);
      if (is_ended_) return;
    }
    const auto now = steady_clock::now();
    for (const OperationInProgress& stuck : operations_.take_unreported(now - patience)) {
      log::warn("the kernel has been waiting {:.1f} s for {}",
                std::chrono::duration<double>(now - stuck.begin).count(), stuck.text());
    }
  }
}

}  // namespace gridmount::fuse
