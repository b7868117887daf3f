// Writeback: commits dirty files in the background. A file is committed one commit interval after
// it became dirty, or at once if it has much dirty data or a writer waits for memory.
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
  // `memory` must outlive this object.
  Writeback(ChunkMemory& memory, std::chrono::milliseconds interval);

  // Must be called when the file has become dirty. Keeps the file alive, and commits it one
  // interval from now.
  void add(std::shared_ptr<OpenFile> file) GM_EXCLUDES(mutex_);
  // Forgets the file. Every commit calls this when it begins, the background commit too. Returns
  // the reference that this object had, or null if it had none. The reference may be the last one,
  // so the caller may release it only after it has released the file's mutex.
  std::shared_ptr<OpenFile> remove(const OpenFile* file) GM_EXCLUDES(mutex_);
  // Makes the file due for its commit now, if it is dirty.
  void hurry(const OpenFile* file) GM_EXCLUDES(mutex_);
  // Releases the files that have lost their last name (OpenFile::is_detached()) and that no handle
  // has open. The dirty data of such files is not needed, but their chunks stay in the store as
  // long as this object holds the files. Waits for the end of a background commit of such a file.
  // Does nothing on the background thread, which releases such files by itself.
  void release_removed() GM_EXCLUDES(releasing_, mutex_);

  // If a commit has failed since failures() returned `failures_before`, returns its error at once.
  // Otherwise makes all dirty files due and waits briefly for the memory that their commits free.
  // Then returns success, even if no memory was freed: the caller tries to get memory again.
  Status wait_for_memory(uint64_t failures_before) GM_EXCLUDES(mutex_);
  uint64_t failures() const GM_EXCLUDES(mutex_);

  // Returns the dirty files and the one that is being committed in the background.
  std::vector<std::shared_ptr<OpenFile>> dirty_files() const GM_EXCLUDES(mutex_);
  // Ends the background commits. Releases the files that are still dirty without committing them.
  // Files that become dirty later are not kept alive.
  void stop() GM_EXCLUDES(mutex_);
  bool stopped() const GM_EXCLUDES(mutex_);

 private:
  using Clock = BackgroundThread::Clock;

  std::optional<Clock::time_point> work() GM_EXCLUDES(mutex_);
  std::shared_ptr<OpenFile> take_due(std::optional<Clock::time_point>& next) GM_EXCLUDES(mutex_);
  // Called by the committing thread when it is done with the file that it took.
  void end_work() GM_EXCLUDES(mutex_);
  // Waits until the committing thread has finished with the file. Does not wait if anybody else
  // than that thread, this object and the caller holds the file: it cannot be released then.
  void wait_for_end_of_work(const std::shared_ptr<OpenFile>& file) GM_EXCLUDES(mutex_);
  void release_if_removed(const std::shared_ptr<OpenFile>& file) GM_EXCLUDES(mutex_);
  void set_due(const OpenFile* file, Clock::time_point due) GM_REQUIRES(mutex_);

  struct Dirty {
    std::shared_ptr<OpenFile> file;
    Clock::time_point due;
  };

  ChunkMemory& memory_;
  const std::chrono::milliseconds interval_;
  // Held by release_removed(), so that one thread at a time runs it: two threads would count each
  // other's references to the files, and would release nothing. Taken before OpenFiles::mutex_.
  Mutex releasing_{LockUse::kHeldOverReads};
  mutable Mutex mutex_;
  std::unordered_map<const OpenFile*, Dirty> dirty_ GM_GUARDED_BY(mutex_);
  std::set<std::pair<Clock::time_point, const OpenFile*>> by_due_ GM_GUARDED_BY(mutex_);
  bool at_work_ GM_GUARDED_BY(mutex_) = false;
  std::weak_ptr<OpenFile> at_work_on_ GM_GUARDED_BY(mutex_);  // the committing thread's file
  std::thread::id worker_ GM_GUARDED_BY(mutex_);
  Condition work_ended_;
  uint64_t failures_ GM_GUARDED_BY(mutex_) = 0;
  std::optional<Error> last_failure_ GM_GUARDED_BY(mutex_);
  bool stopped_ GM_GUARDED_BY(mutex_) = false;
  BackgroundThread thread_;
};

}  // namespace gridmount::gridfs
