// What is done to files later and off the write path, at low priority: md5 for those that were not
// written in order, and the removal of chunks nobody can reach.
//
// Thread-safety: thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <unordered_map>

#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "gridfs/bucket/bucket.h"
#include "gridfs/content/background_thread.h"

namespace gridmount::gridfs {

class OpenFiles;

class Aftercare {
 public:
  Aftercare(const Bucket& bucket, OpenFiles& open_files);

  // The file was committed without md5: it is computed when the file has been quiet for a while.
  void schedule_md5(const bson::Value& id) GM_EXCLUDES(mutex_);
  void cancel_md5(const bson::Value& id) GM_EXCLUDES(mutex_);
  // Has what is scheduled done now; false if it was not done in time.
  bool finish_md5(std::chrono::milliseconds patience) GM_EXCLUDES(mutex_);

  // The file was detached and nobody has it open.
  void reclaim(const bson::Value& id) GM_EXCLUDES(mutex_);

  // The chunks of the file from `from` on are noted as garbage. The note is taken here first, so
  // that it is known whenever the store has it; start_truncated() then has them removed.
  void note_truncated(const bson::Value& id, int64_t from) GM_EXCLUDES(mutex_);
  void start_truncated(const bson::Value& id) GM_EXCLUDES(mutex_);
  // Where the garbage begins, if there may be any.
  std::optional<int64_t> truncated_from(const bson::Value& id) const GM_EXCLUDES(mutex_);
  // Removes it on this thread.
  Status finish_truncated(const bson::Value& id) GM_EXCLUDES(mutex_);

  // Returns when all removals that were asked for are done, or have failed: works on them, too. One
  // that fails is tried again every second, and here.
  void finish_removals() GM_EXCLUDES(mutex_);

  // Finishes the removals; md5 that is not there stays absent.
  void stop() GM_EXCLUDES(mutex_);

 private:
  using Clock = BackgroundThread::Clock;

  std::optional<Clock::time_point> work() GM_EXCLUDES(mutex_);
  void remove_chunks() GM_EXCLUDES(mutex_);
  bool has_removals() const GM_EXCLUDES(mutex_);
  // The file whose md5 is due, or when the next one is.
  std::optional<bson::Value> next_md5(std::optional<Clock::time_point>& due) GM_EXCLUDES(mutex_);
  // Whether the matter is settled; if not, it is to be tried again later.
  bool compute_md5(const bson::Value& id) GM_EXCLUDES(mutex_);

  struct Removal {
    bson::Value id;
    bool truncated = false;
  };
  class RemovalUnderWay;
  // Who takes one makes a RemovalUnderWay of it.
  std::optional<Removal> take_removal() GM_EXCLUDES(mutex_);
  Status remove(const Removal& removal) GM_EXCLUDES(mutex_);

  const Bucket& bucket_;
  OpenFiles& open_files_;
  std::atomic<bool> stopping_{false};
  mutable Mutex mutex_;
  Condition md5_done_;
  std::unordered_map<bson::Value, Clock::time_point, bson::ValueHash> md5_due_
      GM_GUARDED_BY(mutex_);
  bool hurry_ GM_GUARDED_BY(mutex_) = false;
  std::deque<Removal> removals_ GM_GUARDED_BY(mutex_);
  int removing_ GM_GUARDED_BY(mutex_) = 0;  // threads that are at one
  Condition removed_;
  std::unordered_map<bson::Value, int64_t, bson::ValueHash> truncated_ GM_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace gridmount::gridfs
