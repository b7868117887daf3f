#include "fuse/kernel/parked_requests.h"

#include <utility>

#include "engine/base/thread_name.h"

namespace gridmount::fuse {

ParkedRequests::ParkedRequests(std::string name)
    : name_(std::move(name)), thread_([this] { run(); }) {}

void ParkedRequests::stop() {
  {
    const MutexLock lock(mutex_);
    is_ended_ = true;
  }
  changed_.notify_all();
  const MutexLock lock(joining_);
  if (thread_.joinable()) thread_.join();
}

bool ParkedRequests::add(std::function<void()> request) {
  {
    const MutexLock lock(mutex_);
    if (is_ended_) return false;
    requests_.push_back(std::move(request));
  }
  changed_.notify_all();
  return true;
}

void ParkedRequests::run() {
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
