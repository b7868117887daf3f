#include "fuse/kernel/deferred_requests.h"

#include <utility>

#include "engine/base/thread_name.h"

namespace gridmount::fuse {

DeferredRequests::DeferredRequests(std::string name)
    : name_(std::move(name)), thread_([this] { run(); }) {}

void DeferredRequests::stop() {
  {
    const MutexLock lock(mutex_);
    is_ended_ = true;
  }
  changed_.notify_all();
  const MutexLock lock(joining_);
  if (thread_.joinable()) thread_.join();
}

bool DeferredRequests::add(std::function<void()> request) {
  {
    const MutexLock lock(mutex_);
    if (is_ended_) return false;
    requests_.push_back(std::move(request));
  }
  changed_.notify_all();
  return true;
}

void DeferredRequests::run() {
  name_this_thread(name_);
  for (;;) {
    std::function<void()> request;
    {
      const MutexLock lock(mutex_);
      while (requests_.empty() && !is_ended_) changed_.wait(mutex_);
      if (requests_.empty()) return;
      request = std::move(requests_.front());
      requests_.pop_front();
    }
    request();
  }
}

}  // namespace gridmount::fuse
