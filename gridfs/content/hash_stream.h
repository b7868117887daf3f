// The md5 of a file that is being written in order: pieces of content go in as they are complete
// and are hashed on the hashing thread, beside the writing and committing of others.
//
// Thread-safety: thread-safe. The order of pieces is the order of calls.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/base/thread_safety.h"
#include "gridfs/bucket/md5.h"
#include "gridfs/content/background_thread.h"
#include "gridfs/content/chunk_memory.h"

namespace gridmount::gridfs {

class HashStream;

// The thread that hashes for all streams of a table.
class HashThread {
 public:
  HashThread();
  ~HashThread() { thread_.stop(); }

 private:
  friend class HashStream;
  void add(std::shared_ptr<HashStream> stream) GM_EXCLUDES(mutex_);
  std::optional<BackgroundThread::Clock::time_point> work() GM_EXCLUDES(mutex_);

  Mutex mutex_;
  std::deque<std::shared_ptr<HashStream>> waiting_ GM_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

class HashStream : public std::enable_shared_from_this<HashStream> {
 public:
  explicit HashStream(HashThread& thread) : thread_(thread) {}

  // The next bytes, which `pin` keeps as they are. kNow asks the thread to hash them soon,
  // kAtDigest leaves them to digest(): for a few last bytes, not worth a thread's attention.
  enum class When { kNow, kAtDigest };
  void submit(ChunkPin pin, std::span<const uint8_t> data, When when) GM_EXCLUDES(mutex_);
  // The next bytes are what `read` gives to the digest when their turn comes; false abandons the
  // stream. It runs on the hashing thread or in digest().
  void submit(std::function<bool(Md5&)> read) GM_EXCLUDES(mutex_);
  // Bytes of zero. Counted by the block, so `count` should be bounded.
  void submit_zeros(uint64_t count) GM_EXCLUDES(mutex_);

  // The digest of what has been submitted up to a moment: mark() sets the moment, digest() gives
  // the digest, hashing on this thread what is not hashed yet. Nothing if the stream was abandoned.
  struct Mark {
    std::optional<std::string> digest;  // written by the thread that is busy, read when none is
  };
  std::shared_ptr<Mark> mark() GM_EXCLUDES(mutex_);
  std::optional<std::string> digest(const Mark& mark) GM_EXCLUDES(mutex_);

  // Nobody wants the digest any more: drops what waits.
  void abandon() GM_EXCLUDES(mutex_);

 private:
  friend class HashThread;
  struct Piece {
    ChunkPin pin;
    std::span<const uint8_t> data;
    std::shared_ptr<Mark> mark;
    std::function<bool(Md5&)> read;
  };

  // Hashes everything that waits, or returns at once if another thread is at it.
  void run() GM_EXCLUDES(mutex_);
  bool hash_next() GM_REQUIRES(mutex_);

  HashThread& thread_;
  Mutex mutex_;
  Condition idle_;
  bool busy_ GM_GUARDED_BY(mutex_) = false;
  bool scheduled_ GM_GUARDED_BY(mutex_) = false;
  bool abandoned_ GM_GUARDED_BY(mutex_) = false;
  std::deque<Piece> pieces_ GM_GUARDED_BY(mutex_);
  // Used by the thread that set busy_, without the lock, or with the lock while nobody is busy.
  Md5 md5_;
};

}  // namespace gridmount::gridfs
