// Follows what others change in the mount's database, over a deployment with change streams: a
// thread that waits for events and reports them.
//
// If the stream breaks, it goes on at the place where it was. If it cannot, because the deployment
// does not keep the changes since then, it begins anew, and reports that everything may have
// changed. So no change goes unnoticed, as long as the thread runs.
//
// Used by one thread, except for request_end(), which is thread-safe.
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
  // The follower's thread calls `changed`, with nothing locked. `store` must outlive this object.
  ChangeFollower(engine::Store& store, std::string database,
                 std::function<void(const FollowedChanges&)> changed)
      : store_(store), database_(std::move(database)), changed_(std::move(changed)) {}
  // end() must have returned true.
  ~ChangeFollower();
  ChangeFollower(const ChangeFollower&) = delete;
  ChangeFollower& operator=(const ChangeFollower&) = delete;

  // Opens the stream: all changes after this call are reported. Logs if there are no change streams
  // or the user may not open one. begin() does nothing then.
  void open();
  // Starts the thread.
  void begin();

  // The thread reports nothing that it has not begun to report. Does not wait.
  void request_end() GM_EXCLUDES(mutex_);
  // Waits for the thread's end. Returns false if that takes longer than `patience`, because the
  // thread waits for a server. Then neither this object nor the store may be destroyed.
  bool end(std::chrono::milliseconds patience) GM_EXCLUDES(mutex_);

 private:
  void run() GM_EXCLUDES(mutex_);
  Result<std::unique_ptr<engine::ChangeStream>> watch();
  // Returns false if there is no stream yet.
  bool reopen();
  void follow() GM_EXCLUDES(mutex_);
  // Logs it once until reopen() has succeeded.
  void say_broken(const Error& error);
  bool must_end() GM_EXCLUDES(mutex_);
  void pause() GM_EXCLUDES(mutex_);

  engine::Store& store_;
  const std::string database_;
  const std::function<void(const FollowedChanges&)> changed_;
  // These belong to the thread after begin().
  bool follows_ = false;
  std::unique_ptr<engine::ChangeStream> stream_;  // null while there is none
  bson::Document resume_token_;                   // the place to go on at; empty: nowhere
  bool has_said_broken_ = false;

  Mutex mutex_;
  Condition state_;
  bool is_ending_ GM_GUARDED_BY(mutex_) = false;
  bool has_ended_ GM_GUARDED_BY(mutex_) = true;
  std::thread thread_;
};

}  // namespace gridmount::fuse
