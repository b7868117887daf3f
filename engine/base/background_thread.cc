#include "engine/base/background_thread.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "engine/base/signals_blocked.h"
#include "engine/base/thread_name.h"

namespace gridmount {
namespace {

constexpr int kLowPriorityNice = 10;

}  // namespace

BackgroundThread::BackgroundThread(std::string name, Priority priority, Work work)
    : name_(std::move(name)), priority_(priority), work_(std::move(work)) {}

void BackgroundThread::wake() {
  MutexLock lock(mutex_);
  if (stopped_) return;
  if (!std::exchange(woken_, true) || !thread_.joinable()) start_or_notify();
}

void BackgroundThread::wake_by(Clock::time_point time) {
  MutexLock lock(mutex_);
  if (stopped_ || (due_ && *due_ <= time && thread_.joinable())) return;
  due_ = due_ ? std::min(*due_, time) : time;
  start_or_notify();
}

void BackgroundThread::start_or_notify() {
  if (!thread_.joinable()) {
    const AllSignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  } else {
    changed_.notify_one();
  }
}

void BackgroundThread::stop() {
  std::thread thread;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    thread.swap(thread_);
  }
  if (thread.joinable()) thread.join();
}

void BackgroundThread::run() {
  name_this_thread(name_);
  if (priority_ == Priority::kLow) {
    // On Linux this call affects only the calling thread. If the call fails, the thread keeps its
    // normal priority.
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowPriorityNice);
  }
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!woken_ && !stopped_) {
        if (!due_) {
          changed_.wait(mutex_);
          continue;
        }
        const Clock::time_point now = Clock::now();
        if (now >= *due_) break;
        changed_.wait_for(mutex_, *due_ - now);
      }
      if (stopped_) return;
      woken_ = false;
      due_.reset();
    }
    const std::optional<Clock::time_point> next = work_();
    MutexLock lock(mutex_);
    // wake_by() may have been called meanwhile.
    if (next) due_ = due_ ? std::min(*due_, *next) : *next;
  }
}

}  // namespace gridmount
