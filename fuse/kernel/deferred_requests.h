// Requests that are answered by a thread of their own, because they wait for others that need the
// session's threads, which are limited: for what the kernel does meanwhile, or for a folder's move.
//
// Thread-safety: thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "engine/base/thread_safety.h"

namespace gridmount::fuse {

class DeferredRequests {
 public:
  // `name` is the thread's (engine/base/thread_name.h).
  explicit DeferredRequests(std::string name);
  ~DeferredRequests() { stop(); }
  DeferredRequests(const DeferredRequests&) = delete;
  DeferredRequests& operator=(const DeferredRequests&) = delete;

  // One after the other, in this order. `request` must not throw. False after stop().
  bool add(std::function<void()> request) GM_EXCLUDES(mutex_);
  // Answers what is left, and ends the thread. The kernel must not make it wait for ever: either
  // its connection has ended, or the session's threads are at work.
  void stop() GM_EXCLUDES(mutex_);

 private:
  void run() GM_EXCLUDES(mutex_);

  const std::string name_;
  Mutex mutex_;
  Condition changed_;
  std::deque<std::function<void()>> requests_ GM_GUARDED_BY(mutex_);
  bool is_ended_ GM_GUARDED_BY(mutex_) = false;
  Mutex joining_;  // before mutex_
  std::thread thread_ GM_GUARDED_BY(joining_);
};

}  // namespace gridmount::fuse
