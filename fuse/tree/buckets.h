// The buckets of the mounted database, each opened as a Volume when it is first used and kept.
//
// Which buckets exist is the store's to say: names() and find() ask it, so a bucket that a driver
// makes shows up. Making, dropping and renaming a bucket are calls of the mount's root folder.
//
// Thread-safety: find(), names() and MountedBucket are thread-safe. create(), remove(), rename()
// and close() must not run beside any other use of the buckets; FileSystem's tree lock sees to it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/thread_safety.h"
#include "engine/store.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::fuse {

struct BucketSettings {
  std::string database;
  gridfs::BucketOptions bucket;  // its name is not used
  gridfs::VolumeOptions volume;
  gridfs::FileTableOptions files;
};

// The node number of a bucket's root below a root of buckets, the same in every mount.
uint64_t bucket_number(std::string_view shown_name);

class Buckets;

// What the open files of all buckets hold.
struct FileUsage {
  int64_t open_files = 0;    // as programs count them: each open(2) is one
  uint64_t dirty_bytes = 0;  // not yet committed
};

// One bucket as the mount knows it. Stays the same object when the bucket is renamed.
class MountedBucket {
 public:
  MountedBucket(Buckets& buckets, std::string name) : buckets_(buckets), name_(std::move(name)) {}

  // The bucket's tree, opened on the first call. NoSuchEntry when the bucket has been removed.
  Result<std::shared_ptr<gridfs::Volume>> volume();

  std::string name() const GM_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return name_;
  }

  // Open files. While there are any, the bucket is not dropped or renamed.
  std::atomic<int64_t>& handles() { return handles_; }

  // Null if it has not been needed yet.
  std::shared_ptr<gridfs::Volume> opened_volume() GM_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return volume_;
  }

  // 0 while the bucket is being opened or closed, which is not waited for.
  uint64_t dirty_bytes() GM_EXCLUDES(mutex_);

 private:
  friend class Buckets;

  Buckets& buckets_;
  std::atomic<int64_t> handles_{0};
  mutable Mutex mutex_;
  std::string name_ GM_GUARDED_BY(mutex_);
  std::shared_ptr<gridfs::Volume> volume_ GM_GUARDED_BY(mutex_);
  bool removed_ GM_GUARDED_BY(mutex_) = false;
};

// InvalidNamespace for a name that no bucket of the database can have. Asks no store.
Status check_bucket_name(std::string_view database, std::string_view bucket);

class Buckets {
 public:
  // `store` must outlive this object.
  Buckets(engine::Store& store, BucketSettings settings);

  const BucketSettings& settings() const { return settings_; }
  engine::Store& store() const { return store_; }

  // In order.
  Result<std::vector<std::string>> names() const;
  // At any time, and soon, whatever the store is busy with.
  FileUsage file_usage() GM_EXCLUDES(mutex_);
  // NoSuchEntry if the store has no such bucket.
  Result<std::shared_ptr<MountedBucket>> find(std::string_view name);

  // Its volume, if that is open, else null.
  std::shared_ptr<gridfs::Volume> find_opened(const std::string& name) GM_EXCLUDES(mutex_);

  // InvalidNamespace for a name no bucket can have, EntryExists.
  Result<std::shared_ptr<MountedBucket>> create(std::string_view name);
  // BucketNotEmpty; kBusy while files of it are open.
  Status remove(std::string_view name);
  // EntryExists if `to` is taken, kBusy while files are open, InvalidNamespace.
  Status rename(std::string_view from, std::string_view to);

  // Commits and closes every volume. The first error.
  Status close();

 private:
  friend class MountedBucket;

  Result<std::shared_ptr<gridfs::Volume>> open_volume(const std::string& name);
  Result<bool> exists(std::string_view name) const;
  // Closes the volume if it is open, so that nothing works on the bucket.
  Status retire(MountedBucket& bucket);

  engine::Store& store_;
  const BucketSettings settings_;
  std::shared_ptr<engine::Database> database_;
  Mutex mutex_;  // taken before a MountedBucket's
  std::unordered_map<std::string, std::shared_ptr<MountedBucket>> open_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
