// Follows the changes that others make in the mount's database, in a deployment that has change
// streams. A thread waits for events and reports them.
//
// If the stream breaks, the thread resumes it after the last event. If the deployment no longer has
// the events since then, the thread opens a new stream and reports that everything may have
// changed. So no change goes unnoticed as long as the thread runs.
//
// Not thread-safe, except for request_end().
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "engine/base/thread_safety.h"
#include "engine/store.h"
#include "fuse/tree/change_events.h"

namespace gridmount::fuse {

class ChangeFollower {
 public:
  // The follower's thread calls `changed` without holding a lock. `store` must outlive this object.
  ChangeFollower(engine::Store& store, std::string database,
                 std::function<void(const FollowedChanges&)> changed)
      : store_(store), database_(std::move(database)), changed_(std::move(changed)) {}
  // If begin() was called, end() must have returned true before.
  ~ChangeFollower();
  ChangeFollower(const ChangeFollower&) = delete;
  ChangeFollower& operator=(const ChangeFollower&) = delete;

  // Opens the stream: all changes after this call are reported. If the deployment has no change
  // streams or refuses to open one, logs this. begin() then does nothing. If no server can be
  // reached, logs this too, and the thread tries again.
  void open();
  // Starts the thread.
  void begin();

  // Asks the thread to end and does not wait for its end. The thread begins no further report,
  // except one that it was about to begin.
  void request_end() GM_EXCLUDES(mutex_);
  // Calls request_end() and waits for the thread's end. Returns false if that takes longer than
  // `patience`, because the thread waits for a server. Then neither this object nor the store may
  // be destroyed, and end() may be called again.
  bool end(std::chrono::milliseconds patience) GM_EXCLUDES(mutex_);

 private:
  void run() GM_EXCLUDES(mutex_);
  Result<std::unique_ptr<engine::ChangeStream>> watch();
  // Tries to open or resume the stream. Returns false if that fails. If events may have been lost,
  // reports that everything may have changed.
  bool reopen();
  void follow() GM_EXCLUDES(mutex_);
  // Logs that the stream is broken. Does nothing if this was logged since the last success of
  // reopen().
  void log_broken_stream(const Error& error);
  bool must_end() GM_EXCLUDES(mutex_);
  void pause() GM_EXCLUDES(mutex_);

  engine::Store& store_;
  const std::string database_;
  const std::function<void(const FollowedChanges&)> changed_;
  // Only the thread uses these fields after begin().
  bool follows_ = false;
  std::unique_ptr<engine::ChangeStream> stream_;  // null while no stream is open
  bson::Document resume_token_;                   // where to resume the stream; empty: unknown
  bool has_logged_break_ = false;

  Mutex mutex_;
  Condition state_;
  bool is_ending_ GM_GUARDED_BY(mutex_) = false;
  bool has_ended_ GM_GUARDED_BY(mutex_) = true;
  std::thread thread_;
};

}  // namespace gridmount::fuse
