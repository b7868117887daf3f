// A cache of stored chunks in memory, for a store over a network. It has chunks that were read a
// moment ago, and chunks that its threads fetch ahead for programs that read files in order.
//
// One cache serves the open files of all buckets. Its unit is a run of chunks that one command
// fetches. Invariants:
// C1. A chunk belongs to a version of its file. The version is a number that grows with each change
//     of the stored content that this process makes or learns of. Only readers of the version for
//     which a chunk was fetched get the chunk. The fetch begins after the version begins. An open
//     of a file learns the newest version, so a program that opens the file reads nothing older.
// C2. Readers get a chunk for at most ChunkCacheOptions::fresh_for after its arrival. So if a
//     program keeps a file open while others change it, the content that the program reads is no
//     older than this.
// C3. The chunks in the cache and the chunks that are being fetched have at most `bytes_max` bytes
//     together. The cache reserves room before it fetches. It assumes the chunk sizes of a sound
//     file. While it reads a reply of the server, it needs twice the reply's size in addition. A
//     reader bypasses the cache if there is no room, if a newer version has begun, or after
//     request_end(). C3 and C4 do not apply to the chunks that such a reader fetches.
// C4. Only one fetch at a time gets a chunk. Other readers of the chunk wait for that fetch.
// C5. The cache does not report an error of fetching ahead. A later read of the chunks fetches them
//     again.
// C6. A chunk comes from the disk (disk_cache.h) only for a reader that passes a CachedContent
//     (`known`), and only until `fresh_for` after its time `confirmed`. This time counts as the
//     time of the chunk's arrival.
//
// Thread-safe. The cache's lock is taken last and not held over I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/thread_safety.h"
#include "engine/disk_cache/disk_cache.h"
#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "gridfs/content/read_window.h"

namespace gridmount::gridfs {

struct ChunkCacheOptions {
  uint64_t bytes_max = 64 * 1024 * 1024;
  std::chrono::milliseconds fresh_for{2000};
  // The maximum number of threads that fetch ahead. Each uses a connection. 0: none.
  uint32_t threads_max = 8;
  // The cache of chunks on this machine's disk, or null.
  std::shared_ptr<DiskCache> disk = {};
  // The name of the deployment. A disk cache may serve several deployments and tells them apart by
  // their names.
  std::string deployment = {};
};

// Identifies a content of a file, as its files document describes it. Two contents of one file
// differ in the uploadDate, the length or the mtime. Each upload and each commit of a mount sets a
// new uploadDate. A commit to an earlier revision may keep the uploadDate, but then it changes the
// mtime.
struct CachedContent {
  bson::Date upload_date;
  int64_t length = 0;
  std::optional<timespec> mtime;
  std::chrono::steady_clock::time_point confirmed;  // when the files document has arrived
};

class ChunkCache {
 public:
  // The content of a chunk; null if the store does not have the chunk.
  using Content = std::shared_ptr<const std::vector<uint8_t>>;

  // The store must outlive all fetches: end() must have returned true before the store is
  // destroyed.
  ChunkCache(engine::Store& store, const ChunkCacheOptions& options)
      : store_(store), options_(options) {}
  // Calls end() without a time limit.
  ~ChunkCache();
  ChunkCache(const ChunkCache&) = delete;
  ChunkCache& operator=(const ChunkCache&) = delete;

  // Stops fetching ahead. Afterwards reads continue without the cache, and no reader waits for the
  // fetch of another thread. This function does not wait.
  void request_end() GM_EXCLUDES(mutex_);
  // Waits for the end of the threads. Returns false if that takes longer than `patience`, because a
  // thread waits for a server. Then neither this object nor the store may be destroyed.
  bool end(std::chrono::milliseconds patience) GM_EXCLUDES(mutex_);

  bool fetches_ahead() const { return options_.threads_max > 0; }
  // Returns the disk cache, or null if there is none.
  DiskCache* disk() const { return options_.disk.get(); }
  std::chrono::milliseconds fresh_for() const { return options_.fresh_for; }
  uint64_t bytes_in_use() const GM_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return used_bytes_;
  }

 private:
  friend class CachedChunks;
  using Clock = std::chrono::steady_clock;
  using Contents = std::vector<Content>;
  struct File;

  using KnownContent = std::optional<CachedContent>;

  // The place of a file's chunks in the store. Immutable.
  struct Source {
    std::string bucket;  // the chunks' namespace
    std::unique_ptr<engine::Collection> chunks;
    bson::Value files_id;
    int64_t chunk_bytes = 0;
  };
  enum class State { kQueued, kFetching, kReady, kFailed };
  // The chunks [first, last) of a file. `file` is null after the file has dropped the run.
  struct Run {
    std::shared_ptr<const Source> source;
    File* file = nullptr;
    int64_t first = 0;
    int64_t last = 0;
    KnownContent known;  // the content of the version to fetch
    uint64_t bytes = 0;
    State state = State::kFetching;
    bool is_ahead = false;  // was fetched ahead
    bool is_used = false;   // somebody has asked for a chunk of it
    Contents contents;      // if kReady
    Clock::time_point arrived;
    std::list<std::shared_ptr<Run>>::iterator place;  // in queue_ or ready_
  };
  using RunPointer = std::shared_ptr<Run>;
  // An open file. mutex_ guards all fields but `source`.
  struct File {
    std::shared_ptr<const Source> source;
    uint64_t version = 0;
    std::map<int64_t, RunPointer> runs;  // by `first`; they do not overlap
    int64_t runs_ahead = 0;              // how many of them were fetched ahead
    ReadWindow window;
    Clock::duration last_fetch{0};
    Clock::duration quickest_fetch = Clock::duration::max();
  };

  struct Fetched {
    Contents contents;
    Clock::time_point as_of;  // when the oldest of the contents arrived (C2, C6)
  };
  std::string key(const Source& source, const CachedContent& content, int64_t n) const;
  // Fetches chunks from the disk cache, or from the store if the disk cache does not have them.
  Result<Fetched> fetch(const Source& source, const KnownContent& known, int64_t first,
                        int64_t last) const;
  Result<Contents> fetch_from_store(const Source& source, int64_t first, int64_t last) const;
  Result<Contents> read(File& file, uint64_t version, const KnownContent& known, int64_t first,
                        int64_t last) GM_EXCLUDES(mutex_);
  // Fetches `run`, which is kFetching. Returns its contents.
  Result<Contents> fetch_run(const RunPointer& run) GM_EXCLUDES(mutex_);
  void keep(File& file, uint64_t version, int64_t n, Content content) GM_EXCLUDES(mutex_);
  void record_read(File& file, uint64_t version, const KnownContent& known, int64_t offset,
                   int64_t end, int64_t length) GM_EXCLUDES(mutex_);
  void close(File& file) GM_EXCLUDES(mutex_);

  // Makes `version` the file's version, and drops all runs if it is newer. Returns false if
  // `version` is older. The reader of that version must then bypass the cache.
  bool adopt(File& file, uint64_t version) GM_REQUIRES(mutex_);
  int64_t window_bytes_max(const File& file) const GM_REQUIRES(mutex_);
  // Returns the run that has chunk `n`, or null.
  RunPointer find(File& file, int64_t n) GM_REQUIRES(mutex_);
  RunPointer find_fresh(File& file, int64_t n) GM_REQUIRES(mutex_);
  // Adds a run that begins with the chunk `first`, which must be in no run, and ends at `last` or
  // earlier. Returns null if there is no room.
  RunPointer add(File& file, const KnownContent& known, int64_t first, int64_t last, bool is_ahead)
      GM_REQUIRES(mutex_);
  bool make_room(uint64_t bytes, bool is_ahead) GM_REQUIRES(mutex_);
  void drop(const RunPointer& run) GM_REQUIRES(mutex_);
  void drop_all(File& file) GM_REQUIRES(mutex_);
  // Drops the runs that somebody has used and that end at or before the byte `before`.
  void drop_used(File& file, int64_t before) GM_REQUIRES(mutex_);
  void drop_stale() GM_REQUIRES(mutex_);
  void release(Run& run) GM_REQUIRES(mutex_);
  bool is_fresh(const Run& run) const { return Clock::now() - run.arrived < options_.fresh_for; }
  void start_thread() GM_REQUIRES(mutex_);
  void work() GM_EXCLUDES(mutex_);

  engine::Store& store_;
  const ChunkCacheOptions options_;
  mutable Mutex mutex_;
  Condition fetched_;  // a fetch has ended
  Condition queued_;   // there is work for threads
  Condition ended_;    // a thread has ended
  bool is_ending_ GM_GUARDED_BY(mutex_) = false;
  uint64_t used_bytes_ GM_GUARDED_BY(mutex_) = 0;
  int64_t streams_ GM_GUARDED_BY(mutex_) = 0;          // files with runs_ahead
  std::list<RunPointer> queue_ GM_GUARDED_BY(mutex_);  // kQueued, in order
  std::list<RunPointer> ready_ GM_GUARDED_BY(mutex_);  // kReady, the least recently used first
  std::vector<std::thread> threads_ GM_GUARDED_BY(mutex_);
  uint32_t running_ GM_GUARDED_BY(mutex_) = 0;
  uint32_t idle_ GM_GUARDED_BY(mutex_) = 0;
};

// The chunks of one open file in the cache. Thread-safe.
class CachedChunks {
 public:
  CachedChunks(std::shared_ptr<ChunkCache> cache, const Bucket& bucket, bson::ValueView files_id,
               int64_t chunk_bytes);
  ~CachedChunks() { cache_->close(file_); }
  CachedChunks(const CachedChunks&) = delete;
  CachedChunks& operator=(const CachedChunks&) = delete;

  // Returns true if there is a disk cache. Its chunks go only to readers that say which content
  // they read (C6).
  bool has_disk() const { return cache_->disk() != nullptr; }
  std::chrono::milliseconds fresh_for() const { return cache_->fresh_for(); }

  // Must be called before each read of the bytes [offset, end). Begins to fetch the chunks that
  // will be needed next if the program reads in order. `length` is the file's length in the store.
  // `known` is the content of the version, if the caller knows it.
  void record_read(uint64_t version, const std::optional<CachedContent>& known, int64_t offset,
                   int64_t end, int64_t length) {
    cache_->record_read(file_, version, known, offset, end, length);
  }
  // Adds `content`, which must not be null, to the cache as that of chunk `n`. It must have been
  // read since the version began. Does nothing if there is no room, or if the cache has the chunk.
  void keep(uint64_t version, int64_t n, ChunkCache::Content content) {
    cache_->keep(file_, version, n, std::move(content));
  }
  // Returns the contents of the chunks [first, last), whatever sizes they have. For a chunk without
  // binary data, or with more than chunkSize bytes, the content is empty, but not null. Fetches the
  // chunks that are not in the cache, with one command for up to 100 consecutive ones. Fails if a
  // command fails.
  Result<std::vector<ChunkCache::Content>> read(uint64_t version,
                                                const std::optional<CachedContent>& known,
                                                int64_t first, int64_t last) {
    return cache_->read(file_, version, known, first, last);
  }

 private:
  const std::shared_ptr<ChunkCache> cache_;
  ChunkCache::File file_;
};

}  // namespace gridmount::gridfs
