// The requests that wait for a change of the store or for a point in time. Meanwhile they use
// no thread.
//
// Thread-safe. A DeferredRequests may outlive its server, because it does not use the server's I/O
// after stop().
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/thread_safety.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

// Holds a request that can be handled again later.
class Deferrable {
 public:
  virtual ~Deferrable() = default;
  // Called once after each defer() that has returned true, unless remove() has returned true. Must
  // not block.
  virtual void resume() = 0;
};

class DeferredRequests : public std::enable_shared_from_this<DeferredRequests> {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit DeferredRequests(asio::io_context& io);

  // Defers the request. After stop(), returns false and does not defer it. A change before the call
  // does not resume the request. So after defer() the caller must check whether there was a change,
  // and call remove() if there was one.
  bool defer(std::shared_ptr<Deferrable> deferred, const Deferral& deferral);
  // Ends the deferral of the request without resume(). Returns false if the request is no longer
  // deferred: resume() has then been called or will be called.
  bool remove(const Deferrable& deferred);
  // Resumes all requests that wait for a change. If calls follow each other quickly, one resumption
  // serves several of them.
  void notify();
  // Resumes all requests. Afterwards no request can be deferred and no timer runs.
  void stop();

 private:
  struct DeferredEntry {
    std::shared_ptr<Deferrable> deferred;
    TimePoint until;
  };
  using Resumed = std::vector<std::shared_ptr<Deferrable>>;

  void on_time();
  void wake();
  Resumed take_all() GM_REQUIRES(mutex_);
  Resumed take_waiting_for_change() GM_REQUIRES(mutex_);
  std::shared_ptr<Deferrable> take(const Deferrable* key) GM_REQUIRES(mutex_);
  // Sets the timer for the earliest `until`.
  void arm() GM_REQUIRES(mutex_);

  asio::io_context& io_;
  Mutex mutex_;
  bool is_stopped_ GM_GUARDED_BY(mutex_) = false;
  bool wake_is_due_ GM_GUARDED_BY(mutex_) = false;
  TimePoint last_wake_ GM_GUARDED_BY(mutex_);
  std::map<const Deferrable*, DeferredEntry> entries_ GM_GUARDED_BY(mutex_);
  std::set<std::pair<TimePoint, const Deferrable*>> by_time_ GM_GUARDED_BY(mutex_);
  std::set<const Deferrable*> for_change_ GM_GUARDED_BY(mutex_);
  std::optional<TimePoint> armed_for_ GM_GUARDED_BY(mutex_);
  std::optional<asio::steady_timer> timer_ GM_GUARDED_BY(mutex_);
  std::optional<asio::steady_timer> wake_timer_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::wire
