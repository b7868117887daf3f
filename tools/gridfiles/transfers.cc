#include "tools/gridfiles/transfers.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/thread_name.h"
#include "engine/base/thread_safety.h"

namespace gridmount::tools {

namespace {

class Failure {
 public:
  void add(size_t number, Status status) {
    MutexLock lock(mutex_);
    if (number >= number_) return;
    number_ = number;
    status_ = std::move(status);
  }
  Status take() {
    MutexLock lock(mutex_);
    return std::move(status_);
  }

 private:
  Mutex mutex_;
  size_t number_ GM_GUARDED_BY(mutex_) = std::numeric_limits<size_t>::max();
  Status status_ GM_GUARDED_BY(mutex_);
};

}  // namespace

Status run_transfers(int jobs, size_t count, const std::function<Status(size_t)>& transfer) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  Failure failure;
  const auto work = [&] {
    while (!failed) {
      const size_t number = next++;
      if (number >= count) return;
      if (Status done = transfer(number); !done) {
        failure.add(number, std::move(done));
        failed = true;
      }
    }
  };
  const size_t threads = std::min(static_cast<size_t>(std::max(jobs, 1)), count);
  if (threads <= 1) {
    work();
    return failure.take();
  }
  std::vector<std::jthread> workers;
  for (size_t i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      name_this_thread("gm-transfer");
      work();
    });
  }
  workers.clear();  // joins them
  return failure.take();
}

}  // namespace gridmount::tools
