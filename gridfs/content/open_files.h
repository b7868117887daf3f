// The files of a bucket that are open, by id, and their removal.
//
// Thread-safety: thread-safe.
#pragma once

#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

class OpenFile;
struct FileContext;

class OpenFiles {
 public:
  explicit OpenFiles(const Bucket& bucket) : bucket_(bucket) {}

  Result<std::shared_ptr<OpenFile>> open(const std::shared_ptr<FileContext>& context,
                                         bson::ValueView id) GM_EXCLUDES(mutex_);
  std::shared_ptr<OpenFile> find(bson::ValueView id) const GM_EXCLUDES(mutex_);
  // FileTable's.
  Result<std::shared_ptr<OpenFile>> open_detached(const std::shared_ptr<FileContext>& context,
                                                  bson::View document) GM_EXCLUDES(mutex_);
  // Called by the destructor of `file`.
  void closed(const OpenFile* file, const bson::Value& id) GM_EXCLUDES(mutex_);

  // FileTable's.
  Status remove(engine::Transaction& transaction, bson::ValueView id) GM_EXCLUDES(mutex_);
  struct Detached {
    std::vector<bson::Value> unreachable;  // nobody has them open
    bool some_are_open = false;
  };
  // FileTable's. Returns what the calling thread's transaction has detached.
  Detached after_commit() GM_EXCLUDES(mutex_);

 private:
  struct Entry {
    const OpenFile* file = nullptr;
    std::weak_ptr<OpenFile> reference;
  };
  // What a transaction has removed. It becomes true by after_commit(); of a transaction that was
  // given up the notes stay until this thread's next, and do no harm: reclaiming a file that is not
  // detached does nothing, and open() looks again.
  struct Removal {
    bson::Value id;
    bool detached = false;
    uint64_t number = 0;  // in being_removed_, 0 if the file is open
  };
  struct Removals {
    const engine::Transaction* transaction = nullptr;
    std::vector<Removal> files;
  };

  std::shared_ptr<OpenFile> find_locked(const bson::Value& id) const GM_REQUIRES(mutex_);
  void end_removal(const Removal& removal) GM_REQUIRES(mutex_);

  const Bucket& bucket_;
  mutable Mutex mutex_;
  std::unordered_map<bson::Value, Entry, bson::ValueHash> files_ GM_GUARDED_BY(mutex_);
  // By the thread whose transaction it is.
  std::unordered_map<std::thread::id, Removals> removals_ GM_GUARDED_BY(mutex_);
  // Files that were not open when a transaction removed them that may not be committed yet, so that
  // snapshots still show them; and the number of that removal.
  std::unordered_map<bson::Value, uint64_t, bson::ValueHash> being_removed_ GM_GUARDED_BY(mutex_);
  uint64_t last_number_ GM_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridmount::gridfs
