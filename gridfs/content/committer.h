// Commits dirty files in the background: those whose dirty chunks have reached their age, and at
// once those that have many.
//
// Thread-safety: thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "gridfs/content/background_thread.h"
#include "gridfs/content/chunk_memory.h"

namespace gridmount::gridfs {

class OpenFile;

class Committer {
 public:
  Committer(ChunkMemory& memory, std::chrono::milliseconds interval);

  // The file has become dirty: it will be committed an interval from now, and kept alive until
  // then.
  void add(std::shared_ptr<OpenFile> file) GM_EXCLUDES(mutex_);
  // The file is being committed by somebody. What is returned may be the last reference.
  std::shared_ptr<OpenFile> remove(const OpenFile* file) GM_EXCLUDES(mutex_);
  // It is to be committed now.
  void hurry(const OpenFile* file) GM_EXCLUDES(mutex_);
  // Lets go of removed files that nobody has open any more. What they have not committed is
  // nobody's, and while this holds them their chunks stay. Waits for the end of the background's
  // commit of one; on the background's own thread it does nothing, as that one does so by itself.
  void let_go_of_removed() GM_EXCLUDES(letting_go_, mutex_);

  // Waits for memory that commits give back: has all dirty files committed. `failures_before` is
  // what failures() was when the caller began to wait; the error if commits have failed since.
  Status wait_for_memory(uint64_t failures_before) GM_EXCLUDES(mutex_);
  uint64_t failures() const GM_EXCLUDES(mutex_);

  std::vector<std::shared_ptr<OpenFile>> dirty_files() const GM_EXCLUDES(mutex_);
  // Nothing is committed in the background any more; files that become dirty are not kept alive.
  void stop() GM_EXCLUDES(mutex_);
  bool stopped() const GM_EXCLUDES(mutex_);

 private:
  using Clock = BackgroundThread::Clock;

  std::optional<Clock::time_point> work() GM_EXCLUDES(mutex_);
  std::shared_ptr<OpenFile> take_due(std::optional<Clock::time_point>& next) GM_EXCLUDES(mutex_);
  // To be called by the thread that commits, when it is done with the file that it has taken.
  void end_work() GM_EXCLUDES(mutex_);
  // Waits while nobody but the thread that commits, this object and the caller has the file.
  void wait_for_end_of_work(const std::shared_ptr<OpenFile>& file) GM_EXCLUDES(mutex_);
  void let_go_if_removed(const std::shared_ptr<OpenFile>& file) GM_EXCLUDES(mutex_);
  void set_due(const OpenFile* file, Clock::time_point due) GM_REQUIRES(mutex_);

  struct Dirty {
    std::shared_ptr<OpenFile> file;
    Clock::time_point due;
  };

  ChunkMemory& memory_;
  const std::chrono::milliseconds interval_;
  Mutex letting_go_;  // before OpenFiles' mutex: two at a time would see each other's references
  mutable Mutex mutex_;
  std::unordered_map<const OpenFile*, Dirty> dirty_ GM_GUARDED_BY(mutex_);
  std::set<std::pair<Clock::time_point, const OpenFile*>> by_due_ GM_GUARDED_BY(mutex_);
  std::weak_ptr<OpenFile> at_work_on_ GM_GUARDED_BY(mutex_);  // of the thread that commits
  std::thread::id worker_ GM_GUARDED_BY(mutex_);
  Condition work_ended_;
  uint64_t failures_ GM_GUARDED_BY(mutex_) = 0;
  std::optional<Error> last_failure_ GM_GUARDED_BY(mutex_);
  bool stopped_ GM_GUARDED_BY(mutex_) = false;
  BackgroundThread thread_;
};

}  // namespace gridmount::gridfs
