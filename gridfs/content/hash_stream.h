// The md5 of a file that is written in order. Pieces of content are submitted as they become
// complete. The hashing thread hashes them while others write and commit.
//
// Thread-safe. The pieces are hashed in the order of the calls.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/base/background_thread.h"
#include "engine/base/thread_safety.h"
#include "gridfs/bucket/md5.h"
#include "gridfs/content/chunk_memory.h"

namespace gridmount::gridfs {

class HashStream;

// The thread that hashes for all streams of a table. Thread-safe.
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
  // `thread` must outlive this object.
  explicit HashStream(HashThread& thread) : thread_(thread) {}

  // Submits the next bytes, which `pin` keeps unchanged. kNow wakes the hashing thread. kAtDigest
  // leaves the bytes to digest(). Use it for a few last bytes that are not worth waking the thread.
  enum class When { kNow, kAtDigest };
  void submit(ChunkPin pin, std::span<const uint8_t> data, When when) GM_EXCLUDES(mutex_);
  // Submits a function. When all bytes before it are hashed, `read` is called to add its bytes to
  // the Md5. If `read` returns false, the stream is abandoned. `read` runs on the hashing thread or
  // in digest().
  void submit(std::function<bool(Md5&)> read) GM_EXCLUDES(mutex_);
  // Submits zeros. Queues one piece per block of zeros, so `count` should be bounded.
  void submit_zeros(uint64_t count) GM_EXCLUDES(mutex_);

  // mark() marks the present end of the stream. digest() returns the digest of everything submitted
  // before the mark, and hashes on the calling thread what is not hashed yet. Returns nothing if
  // the stream was abandoned.
  struct Mark {
    // The thread that hashes writes this field. It is read only while no thread hashes.
    std::optional<std::string> digest;
  };
  std::shared_ptr<Mark> mark() GM_EXCLUDES(mutex_);
  std::optional<std::string> digest(const Mark& mark) GM_EXCLUDES(mutex_);

  // Drops the pieces that are not hashed yet. Must be called when the digest is no longer needed.
  void abandon() GM_EXCLUDES(mutex_);

 private:
  friend class HashThread;
  struct Piece {
    ChunkPin pin;
    std::span<const uint8_t> data;
    std::shared_ptr<Mark> mark;
    std::function<bool(Md5&)> read;
  };

  // Hashes everything that is queued. Returns at once if another thread is hashing.
  void run() GM_EXCLUDES(mutex_);
  bool hash_next() GM_REQUIRES(mutex_);

  HashThread& thread_;
  Mutex mutex_;
  Condition idle_;
  bool busy_ GM_GUARDED_BY(mutex_) = false;
  bool scheduled_ GM_GUARDED_BY(mutex_) = false;
  bool abandoned_ GM_GUARDED_BY(mutex_) = false;
  std::deque<Piece> pieces_ GM_GUARDED_BY(mutex_);
  // Used without the lock by the thread that set busy_, or with the lock while nobody is busy.
  Md5 md5_;
};

}  // namespace gridmount::gridfs
