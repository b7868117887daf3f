// A cache of chunks of a store over a network, on a disk of this machine. The cache outlives the
// mount.
//
// The cache is a folder with one file per chunk. It knows nothing of files and versions. A caller
// names a content by a key that no other content ever has (CachedContent in chunk_cache.h). So an
// entry never becomes wrong. If the cache needs room, it removes the entries that were not read for
// the longest time.
//
// Users may remove any file of the folder at any time. The cache syncs nothing. Each entry has a
// checksum. The cache removes a damaged entry and treats it as absent.
//
// The folder's format: `lock` is locked by the process that uses the folder. An entry's file is
// named by the first 16 bytes of the SHA-256 of its key, in hexadecimal, in the folder that its
// first two digits name. It has the eight bytes "GMCHUNK1", the sizes of key and content, and the
// CRC-32C of both together (32 bits each, little-endian), then the key, then the content.
//
// Thread-safe. Memory is bounded: an entry takes about 150 bytes of memory, and there are at most
// kEntriesMax.
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
  std::filesystem::path folder;  // made if it does not exist, readable by this user alone
  uint64_t bytes_max = uint64_t{10} << 30;
  // Called by the cache's thread with the first error of writing, and again if another one follows
  // more than a minute later.
  std::function<void(const Error&)> complain;
};

class DiskCache {
 public:
  using Content = std::shared_ptr<const std::vector<uint8_t>>;

  static constexpr size_t kEntriesMax = 400'000;
  // Larger chunks are not kept.
  static constexpr size_t kContentBytesMax = 8 * 1024 * 1024;
  // The limit for contents that wait to be written. Contents beyond it are not kept.
  static constexpr size_t kWaitingBytesMax = 32 * 1024 * 1024;

  // Opens the folder and reads which entries it has. Fails with StoreLocked if another process
  // uses the folder, with PermissionDenied if the folder belongs to another user or others have
  // access to it, and with NotAStore if it has files but is no cache.
  static Result<std::unique_ptr<DiskCache>> open(const DiskCacheOptions& options);
  // Drops contents that still wait to be written.
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  // Returns the content, or null if the cache does not have it. Reads it from the disk.
  Content find(std::string_view key) GM_EXCLUDES(mutex_);
  // Makes the cache's thread write the content. Does not wait.
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
  // Adds an entry, or replaces it, as the one that was read last.
  void add(const Name& name, uint64_t bytes) GM_REQUIRES(mutex_);
  void forget(const Name& name) GM_REQUIRES(mutex_);
  // Forgets the oldest entries until there is room for `bytes` more. Returns them: their files are
  // to be removed.
  std::vector<Name> make_room(uint64_t bytes) GM_REQUIRES(mutex_);
  // Removes the oldest entry if the file system is nearly full, and returns true then.
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
  // Used by the writer alone.
  std::optional<std::chrono::steady_clock::time_point> complained_;
  BackgroundThread writer_;  // the last member: it uses the others
};

}  // namespace gridmount
