// A cache on a disk of this machine, for the chunks of a store over a network. It is still there
// when the next mount begins.
//
// The cache is a folder with one file per chunk. It knows nothing of a bucket's files and their
// versions. The caller gives each content a key that no other content ever has (ChunkCache::key()
// in gridfs/content/chunk_cache.h), so an entry never becomes wrong. If the cache needs space, it
// removes the entries that were read least recently.
//
// Users may delete the file of any entry at any time. If they delete the file `lock` but keep
// entries, the next open() fails with NotAStore. The cache does not sync its files, but each entry
// has a checksum. The cache removes a damaged entry and treats it as absent.
//
// The folder's format: The process that uses the folder holds a lock on the file `lock`. The name
// of an entry's file is the first 16 bytes of the SHA-256 of the entry's key, in hexadecimal. The
// file is in a folder named by the first two of these digits. It has the eight bytes "GMCHUNK1",
// then the key's size, the content's size, and the CRC-32C of key and content together (32 bits
// each, little-endian), then the key, then the content.
//
// Thread-safe. Memory is bounded: an entry needs about 150 bytes of memory, and the cache has at
// most kEntriesMax entries.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/background_thread.h"
#include "engine/base/thread_safety.h"
#include "engine/system/file.h"

namespace gridmount {

struct DiskCacheOptions {
  std::filesystem::path folder;  // made, with access for this user only, if it does not exist
  // The limit of the disk space of all entries. While less than a twentieth of the file system is
  // free, the cache writes nothing, and removes one entry for each content that it does not write.
  uint64_t bytes_max = uint64_t{10} << 30;
  // The cache's thread calls this function with the first error of a write, and then with at most
  // one error a minute. May be empty.
  std::function<void(const Error&)> complain;
};

class DiskCache {
 public:
  using Content = std::shared_ptr<const std::vector<uint8_t>>;

  static constexpr size_t kEntriesMax = 400'000;
  // The cache does not keep larger chunks.
  static constexpr size_t kContentBytesMax = 8 * 1024 * 1024;
  // The limit for the contents that wait for the cache's thread. The cache does not keep contents
  // beyond this limit.
  static constexpr size_t kWaitingBytesMax = 32 * 1024 * 1024;

  // Opens the folder and lists its entries. Fails with StoreLocked if another process uses the
  // folder, with PermissionDenied if the folder belongs to another user or others have access to
  // it, with NotAStore if it has files but is no cache, and with the errors of system calls
  // (system_error.h).
  static Result<std::unique_ptr<DiskCache>> open(const DiskCacheOptions& options);
  // Drops contents that still wait to be written.
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  // Reads the content from the disk. Returns null if the cache does not have it, has not written it
  // yet, or cannot read it.
  Content find(std::string_view key) GM_EXCLUDES(mutex_);
  // Gives the content to the cache's thread, which writes it. Does not wait.
  void keep(std::string key, Content content) GM_EXCLUDES(mutex_);
  // For tests: waits until each content that was kept is written, or could not be written.
  void flush() GM_EXCLUDES(mutex_);

  struct Usage {
    uint64_t bytes = 0;  // on the disk
    uint64_t entries = 0;
    uint64_t hits = 0;    // since the opening
    uint64_t misses = 0;  // since the opening
  };
  Usage usage() const GM_EXCLUDES(mutex_);

 private:
  using Name = std::array<uint8_t, 16>;
  struct NameHash {
    size_t operator()(const Name& name) const;
  };
  struct Entry {
    uint64_t bytes = 0;  // on the disk
    std::list<Name>::iterator place;
  };
  struct Waiting {
    std::string key;
    Content content;
  };

  DiskCache(const DiskCacheOptions& options, system::File lock);

  static Name name_of(std::string_view key);
  std::filesystem::path path_of(const Name& name) const;
  Status read_entries() GM_EXCLUDES(mutex_);
  void write_waiting() GM_EXCLUDES(mutex_);
  Status write(const Waiting& waiting) GM_EXCLUDES(mutex_);
  // Adds or replaces an entry. It then counts as the most recently read one.
  void add(const Name& name, uint64_t bytes) GM_REQUIRES(mutex_);
  void forget(const Name& name) GM_REQUIRES(mutex_);
  // Forgets the least recently read entries until the limits allow another entry of `bytes` bytes.
  // Returns their names: the caller must remove their files.
  std::vector<Name> make_room(uint64_t bytes) GM_REQUIRES(mutex_);
  // Returns whether the file system is nearly full. If it is, removes the least recently read
  // entry.
  bool is_disk_scarce() GM_EXCLUDES(mutex_);
  void complain(const Error& error);

  const DiskCacheOptions options_;
  const system::File lock_;
  mutable Mutex mutex_;
  Condition written_;
  std::list<Name> by_age_ GM_GUARDED_BY(mutex_);  // the least recently read first
  std::unordered_map<Name, Entry, NameHash> entries_ GM_GUARDED_BY(mutex_);
  uint64_t bytes_ GM_GUARDED_BY(mutex_) = 0;
  std::list<Waiting> waiting_ GM_GUARDED_BY(mutex_);
  uint64_t waiting_bytes_ GM_GUARDED_BY(mutex_) = 0;
  bool is_writing_ GM_GUARDED_BY(mutex_) = false;
  uint64_t hits_ GM_GUARDED_BY(mutex_) = 0;
  uint64_t misses_ GM_GUARDED_BY(mutex_) = 0;
  // Only the cache's thread uses this field.
  std::optional<std::chrono::steady_clock::time_point> complained_;
  BackgroundThread writer_;  // the last member: it uses the others
};

}  // namespace gridmount
