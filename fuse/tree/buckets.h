// The buckets of the mounted database. A bucket is opened as a PathNamespace when it is first used.
// It stays open until rename(), remove() or close(). After rename(), its next use opens it again.
//
// The store decides which buckets exist. names() and find() query the store, so they also find a
// bucket that a driver has created. mkdir, rmdir and rename in a root of buckets create, remove and
// rename buckets.
//
// find(), names(), file_usage(), find_opened() and MountedBucket are thread-safe. While one of
// create(), remove(), rename() and close() runs, no other thread may call any of them, nor find(),
// names() or MountedBucket::paths(). FileSystem ensures this with its tree lock. It calls close()
// last, when no other operation runs. Other threads may call file_usage() and find_opened() at any
// time, without the tree lock. Both wait while close() runs.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/thread_safety.h"
#include "engine/store.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::fuse {

struct BucketSettings {
  std::string database;
  gridfs::BucketOptions bucket;  // its name is not used
  gridfs::NamespaceOptions paths;
  gridfs::FileTableOptions files;
  // How long the kernel may cache attributes and names. Set if others may change the store too,
  // because this process does not learn of each of their changes. Unset if every change goes
  // through this process: the kernel may then cache for ever.
  std::optional<std::chrono::milliseconds> cache_time;
};

// Returns the ino of a bucket's root in a root of buckets. The ino is the same in every mount.
uint64_t bucket_ino(std::string_view shown_name);

class Buckets;

// Usage by the open files of all buckets.
struct FileUsage {
  int64_t open_files = 0;    // number of open(2) calls not yet released
  uint64_t dirty_bytes = 0;  // memory of the chunks that are not committed yet
};

// One bucket of the mount. Stays the same object when the bucket is renamed.
class MountedBucket {
 public:
  // `buckets` must outlive this object.
  MountedBucket(Buckets& buckets, std::string name) : buckets_(buckets), name_(std::move(name)) {}

  // Returns the bucket's namespace. If the namespace is not open, opens it, and other callers wait.
  // Fails with NoSuchEntry if the bucket has been removed, and as PathNamespace::open() does.
  Result<std::shared_ptr<gridfs::PathNamespace>> paths();

  std::string name() const GM_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return name_;
  }

  // The number of open(2) calls for files of the bucket that are not yet released. While the number
  // is not 0, the bucket cannot be removed or renamed.
  std::atomic<int64_t>& handles() { return handles_; }

  // Returns null if the namespace is not open.
  std::shared_ptr<gridfs::PathNamespace> opened_namespace() GM_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return namespace_;
  }

  // Returns the memory of the chunks that are not committed, in bytes. Never waits: returns 0 while
  // another thread has locked mutex_, for example to open or close the bucket.
  uint64_t dirty_bytes() GM_EXCLUDES(mutex_);

 private:
  friend class Buckets;

  Buckets& buckets_;
  std::atomic<int64_t> handles_{0};
  mutable Mutex mutex_;
  std::string name_ GM_GUARDED_BY(mutex_);
  std::shared_ptr<gridfs::PathNamespace> namespace_ GM_GUARDED_BY(mutex_);
  bool removed_ GM_GUARDED_BY(mutex_) = false;
};

// Fails with InvalidNamespace if no bucket of the database can have the name. Does not use the
// store.
Status check_bucket_name(std::string_view database, std::string_view bucket);

class Buckets {
 public:
  // `store` must outlive this object.
  Buckets(engine::Store& store, BucketSettings settings);

  const BucketSettings& settings() const { return settings_; }
  engine::Store& store() const { return store_; }

  // Returns the names of all buckets in the database, sorted.
  Result<std::vector<std::string>> names() const;
  // Does not wait for the store, except while close() commits the buckets.
  FileUsage file_usage() GM_EXCLUDES(mutex_);
  // Fails with NoSuchEntry if the store has no such bucket.
  Result<std::shared_ptr<MountedBucket>> find(std::string_view name);

  // Returns the bucket's namespace if it is open, else null. Waits while the bucket is being opened
  // or closed.
  std::shared_ptr<gridfs::PathNamespace> find_opened(const std::string& name) GM_EXCLUDES(mutex_);

  // Fails with InvalidNamespace if no bucket can have the name, or with EntryExists if the bucket
  // exists.
  Result<std::shared_ptr<MountedBucket>> create(std::string_view name);
  // Fails with NoSuchEntry if there is no such bucket, with BucketNotEmpty, or with kBusy if files
  // of the bucket are open. The kernel reports a close(2) some time after close(2) has returned, so
  // remove() waits up to 200 ms until no file counts as open.
  Status remove(std::string_view name);
  // Renames a bucket. With `replaces`, the transaction of the rename also removes an empty bucket
  // `to`, so an error leaves both buckets. Fails with NoSuchEntry if there is no bucket `from`,
  // with EntryExists if `to` is taken and `replaces` is false, with NamespaceExists if a collection
  // outside of buckets has a name that the bucket would need, with BucketNotEmpty and kBusy as
  // remove() does, or with InvalidNamespace if no bucket can have the name `to`.
  Status rename(std::string_view from, std::string_view to, bool replaces);

  // Commits and closes every namespace. Returns the first error.
  Status close();

 private:
  friend class MountedBucket;

  Result<std::shared_ptr<gridfs::PathNamespace>> open_namespace(const std::string& name);
  Result<bool> exists(std::string_view name) const;
  // Closes the namespace of the bucket if it is open, so that no background thread works on the
  // bucket any more. Fails with kBusy while files of the bucket are open.
  Status retire(MountedBucket& bucket);
  // Renames the collections of a bucket in one transaction. If the bucket `to` exists, `replaced`
  // must be that bucket, and its collections are dropped. Fails with BucketNotEmpty if `replaced`
  // holds something.
  Status rename_collections(std::string_view from, std::string_view to,
                            const gridfs::Bucket* replaced);

  engine::Store& store_;
  const BucketSettings settings_;
  std::shared_ptr<engine::Database> database_;
  Mutex mutex_;  // taken before MountedBucket::mutex_
  std::unordered_map<std::string, std::shared_ptr<MountedBucket>> open_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
