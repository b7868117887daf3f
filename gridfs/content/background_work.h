// Work on files for which no program waits. A thread with low priority computes the md5 of files
// that were not written in order, and removes the chunks that removed and truncated files have
// left.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <unordered_map>

#include "engine/base/background_thread.h"
#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

class OpenFiles;

class BackgroundWork {
 public:
  // Both must outlive this object.
  BackgroundWork(const Bucket& bucket, OpenFiles& open_files);

  // Must be called when a file was committed without md5. The md5 is computed after the file has
  // not changed for one second.
  void schedule_md5(const bson::Value& id) GM_EXCLUDES(mutex_);
  void cancel_md5(const bson::Value& id) GM_EXCLUDES(mutex_);
  // Makes the background thread compute all scheduled md5 digests now, and waits for them. Returns
  // false if this takes longer than `patience`.
  bool finish_md5(std::chrono::milliseconds patience) GM_EXCLUDES(mutex_);

  // Must be called when the file was moved to `detached` and nobody has it open. The background
  // thread removes the file with its chunks.
  void reclaim(const bson::Value& id) GM_EXCLUDES(mutex_);

  // These two must be called for a truncation that leaves the file's chunks from the number `from`
  // on as garbage. The caller must call record_truncated() before the commit that records the
  // garbage in the store. So truncated_from() knows of all garbage that the store has recorded.
  // After the commit the caller must call start_truncated(), which starts the removal.
  void record_truncated(const bson::Value& id, int64_t from) GM_EXCLUDES(mutex_);
  void start_truncated(const bson::Value& id) GM_EXCLUDES(mutex_);
  // Returns the number of the first chunk that is garbage, or nothing if the file has no garbage.
  std::optional<int64_t> truncated_from(const bson::Value& id) const GM_EXCLUDES(mutex_);
  // Removes the garbage of the file on the calling thread.
  Status finish_truncated(const bson::Value& id) GM_EXCLUDES(mutex_);

  // Removes chunks on the calling thread, while the background thread may do the same. Returns when
  // all requested removals are done or have failed. The background thread tries a failed removal
  // again every second. Each call of this function also tries it again.
  void finish_removals() GM_EXCLUDES(mutex_);

  // Ends the background thread, then tries each remaining removal once. A removal that fails stays
  // recorded in `detached`. Files whose md5 is not computed yet stay without md5.
  void stop() GM_EXCLUDES(mutex_);

 private:
  using Clock = BackgroundThread::Clock;

  std::optional<Clock::time_point> work() GM_EXCLUDES(mutex_);
  void remove_chunks() GM_EXCLUDES(mutex_);
  bool has_removals() const GM_EXCLUDES(mutex_);
  // Returns a file whose md5 is due. If there is none, sets `due` to the time when the next md5
  // will be due, or to nothing.
  std::optional<bson::Value> next_md5(std::optional<Clock::time_point>& due) GM_EXCLUDES(mutex_);
  // Returns true if nothing is left to do for this file, and false if the caller must try again
  // later.
  bool compute_md5(const bson::Value& id) GM_EXCLUDES(mutex_);

  struct OrphanRemoval {
    bson::Value id;
    bool truncated = false;  // the file is no orphan: only the chunks after its end are removed
  };
  class OrphanRemovalUnderWay;
  // Takes a removal from the queue, and counts it in removing_. The caller must then make an
  // OrphanRemovalUnderWay, which ends the count.
  std::optional<OrphanRemoval> take_removal() GM_EXCLUDES(mutex_);
  Status remove(const OrphanRemoval& removal) GM_EXCLUDES(mutex_);

  const Bucket& bucket_;
  OpenFiles& open_files_;
  std::atomic<bool> stopping_{false};
  mutable Mutex mutex_;
  Condition md5_done_;
  std::unordered_map<bson::Value, Clock::time_point, bson::ValueHash> md5_due_
      GM_GUARDED_BY(mutex_);
  bool hurry_ GM_GUARDED_BY(mutex_) = false;
  std::deque<OrphanRemoval> removals_ GM_GUARDED_BY(mutex_);
  int removing_ GM_GUARDED_BY(mutex_) = 0;  // number of threads that work on a removal
  Condition removed_;
  std::unordered_map<bson::Value, int64_t, bson::ValueHash> truncated_ GM_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace gridmount::gridfs
