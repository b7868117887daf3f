// The open files of a bucket by id, and their removal.
//
// Thread-safe.
#pragma once

#include <array>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/base/thread_safety.h"
#include "engine/bson/value.h"
#include "gridfs/bucket/bucket.h"
#include "gridfs/content/first_chunk_lookup.h"

namespace gridmount::gridfs {

class OpenFile;
struct FileContext;

class OpenFiles {
 public:
  // `bucket` must outlive this object.
  explicit OpenFiles(const Bucket& bucket) : bucket_(bucket), first_chunk_lookup_(bucket) {}

  // Implements FileTable::open() and open_to_read().
  enum class Purpose { kAny, kReading };
  Result<std::shared_ptr<OpenFile>> open(const std::shared_ptr<FileContext>& context,
                                         bson::ValueView id, Purpose purpose) GM_EXCLUDES(mutex_);
  std::shared_ptr<OpenFile> find(bson::ValueView id) const GM_EXCLUDES(mutex_);
  // Reads the files document again and gives it to the file (OpenFile::refresh()).
  Status refresh(OpenFile& file) const GM_EXCLUDES(mutex_);
  // Implements FileTable::open_detached().
  Result<std::shared_ptr<OpenFile>> open_detached(const std::shared_ptr<FileContext>& context,
                                                  bson::View document) GM_EXCLUDES(mutex_);
  // Implements FileTable::open_new().
  Result<std::shared_ptr<OpenFile>> open_new(const std::shared_ptr<FileContext>& context,
                                             bson::View document) GM_EXCLUDES(mutex_);
  // Must be called by the destructor of `file`.
  void closed(const OpenFile* file, const bson::Value& id) GM_EXCLUDES(mutex_);

  // Implements FileTable::remove().
  Status remove(engine::Transaction& transaction, bson::ValueView id,
                const bson::Document* document) GM_EXCLUDES(mutex_);
  struct Detached {
    std::vector<bson::Value> unreachable;  // files that nobody has open
    bool some_are_open = false;
  };
  // Returns the open files that have no name.
  std::vector<bson::Value> orphans() const GM_EXCLUDES(mutex_);
  // Implements FileTable::after_commit(). Returns the files that the calling thread's transaction
  // has moved to `detached`.
  Detached after_commit() GM_EXCLUDES(mutex_);
  // Implements FileTable::give_up_removals().
  void give_up_removals() GM_EXCLUDES(mutex_);

 private:
  struct OpenEntry {
    const OpenFile* file = nullptr;
    std::weak_ptr<OpenFile> reference;
  };
  // A file that a transaction has removed. after_commit() makes the removal effective.
  struct FileRemoval {
    bson::Value id;
    bool detached = false;
    uint64_t number = 0;  // number in being_removed_; 0 if the file is open
  };

  // Returns the open file, or nothing if it is not open. Sets `removal` to the number of the
  // removal that has begun, or to 0.
  std::shared_ptr<OpenFile> find_or_removal(const bson::Value& id, uint64_t& removal) const
      GM_EXCLUDES(mutex_);
  // Reads the file's document in `files`, and its first chunk if the caller wants it.
  Result<FirstChunkLookup::Found> find_stored(bson::ValueView id, bool wants_chunk) const;
  // Waits for the end of a removal that a transaction has begun.
  Status wait_for_removal(const bson::Value& id, uint64_t removal) GM_EXCLUDES(mutex_);
  std::shared_ptr<OpenFile> find_locked(const bson::Value& id) const GM_REQUIRES(mutex_);
  void end_removal(const FileRemoval& removal) GM_REQUIRES(mutex_);

  const Bucket& bucket_;
  const FirstChunkLookup first_chunk_lookup_;
  // A thread that opens a file holds one of these locks, so that no other thread opens the same
  // file. Several files share a lock.
  static constexpr size_t kOpeningLocks = 64;
  struct OpeningMutex : Mutex {
    OpeningMutex() : Mutex(LockUse::kHeldOverReads) {}
  };
  std::array<OpeningMutex, kOpeningLocks> opening_;
  mutable Mutex mutex_;
  std::unordered_map<bson::Value, OpenEntry, bson::ValueHash> files_ GM_GUARDED_BY(mutex_);
  // Keyed by the thread that owns the transaction.
  std::unordered_map<std::thread::id, std::vector<FileRemoval>> removals_ GM_GUARDED_BY(mutex_);
  // Files that were not open when a transaction removed them, with the number of that removal. The
  // transaction may not be committed yet, so snapshots may still show the file.
  std::unordered_map<bson::Value, uint64_t, bson::ValueHash> being_removed_ GM_GUARDED_BY(mutex_);
  uint64_t last_number_ GM_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridmount::gridfs
