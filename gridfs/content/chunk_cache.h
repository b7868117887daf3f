// Stored chunks in memory, for a store over a network: chunks that were read a moment ago, and
// chunks that threads fetch ahead of programs that read files in order.
//
// One cache serves the open files of all buckets. Its unit is a run of chunks that one command
// fetches. Invariants:
// C1. A chunk belongs to a version of its file: a number that grows with each change of the stored
//     content that this process makes or learns of. A chunk is given to readers of the version for
//     which it was fetched, and to no others. The fetch begins after the version does. An open of a
//     file learns the newest version, so a program that opens the file gets nothing older.
// C2. A chunk is given to readers for at most ChunkCacheOptions::fresh_for after it has arrived.
//     This limits the age of what a program reads that keeps a file open while others change it.
// C3. The chunks that are in the cache or being fetched never have more than `bytes_max` bytes
//     together. The room is reserved before the fetch, by the sizes that the chunks have in a sound
//     file. While a reply of the server is read, twice its size is needed in addition.
// C4. Only one fetch at a time gets a chunk. Other readers of the chunk wait for that fetch.
// C5. Errors of fetching ahead are not reported. A later read of these chunks fetches them again.
// C6. A chunk comes from the disk (disk_cache.h) only for readers who say which content they read,
//     and only within `fresh_for` after the file's document has said that this is its content. It
//     counts as arrived at that moment.
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
  // Where chunks are kept on this machine's disk, or null.
  std::shared_ptr<DiskCache> disk = {};
  // Names the deployment. A disk cache that is used with several of them tells them apart by it.
  std::string deployment = {};
};

// Which content a file has, by its files document. Two contents of one file differ in at least one
// of the first three: each commit of a mount and each upload has a new uploadDate, except that a
// commit to an earlier revision may keep it, but not the mtime.
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

  // From now on nothing is fetched ahead, and nobody waits for the fetch of another thread. Reads
  // go on without the cache. Does not wait.
  void request_end() GM_EXCLUDES(mutex_);
  // Waits for the end of the threads. Returns false if that takes longer than `patience`, because a
  // thread waits for a server. Then neither this object nor the store may be destroyed.
  bool end(std::chrono::milliseconds patience) GM_EXCLUDES(mutex_);

  bool fetches_ahead() const { return options_.threads_max > 0; }
  // Null if there is none.
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

  // Where a file's chunks are. Immutable.
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
    KnownContent known;  // of the version for which it is fetched
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
    Clock::time_point as_of;  // the age of the oldest of them (C2, C6)
  };
  std::string key(const Source& source, const CachedContent& content, int64_t n) const;
  // From the disk, if it has them, or from the store.
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

  // Makes `version` the file's version, and drops all runs if it is newer. Returns false if it is
  // older: its reader must then bypass the cache.
  bool adopt(File& file, uint64_t version) GM_REQUIRES(mutex_);
  int64_t window_bytes_max(const File& file) const GM_REQUIRES(mutex_);
  // Returns the run that has chunk `n`, or null.
  RunPointer find(File& file, int64_t n) GM_REQUIRES(mutex_);
  RunPointer find_fresh(File& file, int64_t n) GM_REQUIRES(mutex_);
  // Adds a run that begins with the chunk `first`, which no run has, and ends at `last` or before.
  // Returns null if there is no room.
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

  // Returns true if chunks may come from a disk, for readers who say which content they read.
  bool has_disk() const { return cache_->disk() != nullptr; }
  std::chrono::milliseconds fresh_for() const { return cache_->fresh_for(); }

  // Must be called before each read of the bytes [offset, end). `length` is the file's length in
  // the store. Begins to fetch what a program that reads in order will ask for next.
  // `known`: which content the version is, if the caller knows.
  void record_read(uint64_t version, const std::optional<CachedContent>& known, int64_t offset,
                   int64_t end, int64_t length) {
    cache_->record_read(file_, version, known, offset, end, length);
  }
  // Takes the content of chunk `n`, which somebody has read since the version began. Does nothing
  // if there is no room.
  void keep(uint64_t version, int64_t n, ChunkCache::Content content) {
    cache_->keep(file_, version, n, std::move(content));
  }
  // Returns the contents of the chunks [first, last), whatever sizes they have. A chunk without
  // binary data has no bytes. Fetches with one command the chunks that are not in the cache. Fails
  // if this command fails.
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
