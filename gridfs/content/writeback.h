// Writeback: commits dirty files in the background, on a thread of its own. The thread commits a
// file one interval after the file became dirty, or without this delay if the file has much dirty
// data or a writer waits for memory. If a commit fails, the thread tries again one interval later.
//
// Thread-safe.
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

#include "engine/base/background_thread.h"
#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "gridfs/content/chunk_memory.h"

namespace gridmount::gridfs {

class OpenFile;

class Writeback {
 public:
  // `memory` must outlive this object. `interval` is FileTableOptions::commit_interval.
  Writeback(ChunkMemory& memory, std::chrono::milliseconds interval);

  // Must be called when the file has become dirty. Keeps the file alive, and commits it one
  // interval from now. Does nothing if this object already has the file, or after stop().
  void add(std::shared_ptr<OpenFile> file) GM_EXCLUDES(mutex_);
  // Forgets the file. Every commit calls this function when it begins, a background commit too.
  // Returns the reference that this object had, or null if it had none. The reference may be the
  // last one, so the caller may release it only after it has released the file's mutex.
  std::shared_ptr<OpenFile> remove(const OpenFile* file) GM_EXCLUDES(mutex_);
  // Like remove(), but returns null and keeps the file if anybody besides this object and the
  // caller has it. The caller must hold the file's mutex, so that the file does not become dirty
  // meanwhile.
  std::shared_ptr<OpenFile> remove_if_unused(const OpenFile* file) GM_EXCLUDES(mutex_);
  // If this object has the file, makes the file due for its commit now. Does not wait.
  void hurry(const OpenFile* file) GM_EXCLUDES(mutex_);
  // Releases the files that have lost their last name (OpenFile::is_detached()) and that nobody has
  // open. Nobody needs the dirty data of such files, but their chunks stay in the store as long as
  // this object holds the files. Waits for the end of a background commit of such a file. Does
  // nothing on the background thread, because that thread releases such files by itself.
  void release_removed() GM_EXCLUDES(releasing_, mutex_);

  // If a background commit has failed since failures() returned `failures_before`, returns the
  // error of the last failed commit without waiting. Otherwise makes all dirty files due, and waits
  // at most 20 ms for the memory that their commits free. Then returns success, even if no memory
  // was freed. The caller must then try to get memory again.
  Status wait_for_memory(uint64_t failures_before) GM_EXCLUDES(mutex_);
  // Returns how many background commits have failed since this object was made.
  uint64_t failures() const GM_EXCLUDES(mutex_);

  // Returns the dirty files, and the file that is being committed in the background.
  std::vector<std::shared_ptr<OpenFile>> dirty_files() const GM_EXCLUDES(mutex_);
  // Waits for the end of the background commit in progress, and ends the thread. Releases the files
  // that are still dirty, and does not commit them: the caller should have committed them before.
  // Files that become dirty later are not kept alive.
  void stop() GM_EXCLUDES(mutex_);
  bool stopped() const GM_EXCLUDES(mutex_);

 private:
  using Clock = BackgroundThread::Clock;

  // The work of the background thread: commits all files that are due. Returns when the thread must
  // run again, or nothing if it must wait for wake().
  std::optional<Clock::time_point> work() GM_EXCLUDES(mutex_);
  // Returns a file that is due, or null. Sets `next` to the time when the next file is due.
  std::shared_ptr<OpenFile> take_due(std::optional<Clock::time_point>& next) GM_EXCLUDES(mutex_);
  // The background thread calls this function when it has released the file that it took.
  void end_work() GM_EXCLUDES(mutex_);
  std::shared_ptr<OpenFile> remove_locked(const OpenFile* file) GM_REQUIRES(mutex_);
  // Releases the file if it has lost its last name and nobody has it open.
  void release_if_removed(const std::shared_ptr<OpenFile>& file) GM_EXCLUDES(mutex_);
  // Waits until the background thread has released the file, and returns true. Returns false
  // without waiting if somebody besides the background thread, this object and the caller has the
  // file, because such a holder keeps the file alive anyway.
  bool wait_for_end_of_work(const std::shared_ptr<OpenFile>& file) GM_EXCLUDES(mutex_);
  // Returns whether this is the background thread.
  bool is_worker() const GM_REQUIRES(mutex_);
  // Returns whether the background thread has taken the file.
  bool is_at_work_on(const std::shared_ptr<OpenFile>& file) const GM_REQUIRES(mutex_);
  void set_due(const OpenFile* file, Clock::time_point due) GM_REQUIRES(mutex_);

  struct Dirty {
    std::shared_ptr<OpenFile> file;
    Clock::time_point due;
  };

  ChunkMemory& memory_;
  const std::chrono::milliseconds interval_;
  // release_removed() holds this mutex, so that one thread at a time runs it. Two threads would
  // count each other's references to the files, and would release nothing. Taken before
  // OpenFiles::mutex_.
  Mutex releasing_{LockUse::kHeldOverReads};
  mutable Mutex mutex_;
  std::unordered_map<const OpenFile*, Dirty> dirty_ GM_GUARDED_BY(mutex_);
  std::set<std::pair<Clock::time_point, const OpenFile*>> by_due_ GM_GUARDED_BY(mutex_);
  bool at_work_ GM_GUARDED_BY(mutex_) = false;
  std::weak_ptr<OpenFile> at_work_on_ GM_GUARDED_BY(mutex_);  // the file that thread_ has taken
  std::thread::id worker_ GM_GUARDED_BY(mutex_);              // the background thread
  // The commit of at_work_on_ in progress has the reference that dirty_ had. May stay true until
  // end_work() although the commit has released the reference.
  bool worker_has_reference_of_list_ GM_GUARDED_BY(mutex_) = false;
  Condition work_ended_;
  uint64_t failures_ GM_GUARDED_BY(mutex_) = 0;
  std::optional<Error> last_failure_ GM_GUARDED_BY(mutex_);
  bool stopped_ GM_GUARDED_BY(mutex_) = false;
  BackgroundThread thread_;
};

}  // namespace gridmount::gridfs
