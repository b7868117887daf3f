// A thread that runs the requests that must wait, one after the other. The session has few threads,
// and the kernel's other requests need them. One object of this class is for requests that wait
// until the kernel has written back a file. Another is for requests that wait for the move of a
// directory.
//
// Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "engine/base/thread_safety.h"

namespace gridmount::fuse {

class ParkedRequests {
 public:
  // `name` becomes the name of the thread (engine/base/thread_name.h).
  explicit ParkedRequests(std::string name);
  ~ParkedRequests() { stop(); }
  ParkedRequests(const ParkedRequests&) = delete;
  ParkedRequests& operator=(const ParkedRequests&) = delete;

  // Runs the requests one after the other, in the order of the calls. `request` must not throw.
  // Returns false after stop().
  bool add(std::function<void()> request) GM_EXCLUDES(mutex_);
  // Runs the remaining requests and ends the thread. Waits for the end of the thread, so a
  // remaining request must not wait for the kernel for ever. Therefore stop() must be called while
  // the session's threads still run, or after the kernel's connection has ended.
  void stop() GM_EXCLUDES(mutex_);

 private:
  void run() GM_EXCLUDES(mutex_);

  const std::string name_;
  Mutex mutex_;
  Condition changed_;
  std::deque<std::function<void()>> requests_ GM_GUARDED_BY(mutex_);
  bool is_ended_ GM_GUARDED_BY(mutex_) = false;
  Mutex joining_;  // lock order: before mutex_
  std::thread thread_ GM_GUARDED_BY(joining_);
};

}  // namespace gridmount::fuse
