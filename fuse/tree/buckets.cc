#include "fuse/tree/buckets.h"

#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "fuse/errno.h"
#include "gridfs/bucket/error.h"

namespace gridmount::fuse {

namespace {

// All collections of a bucket. The bucket exists if its files collection does.
constexpr std::array<std::string_view, 5> kParts{".files", ".chunks", ".directories", ".detached",
                                                 ".links"};

constexpr std::chrono::milliseconds kReleasePatience{200};

std::string collection_name(std::string_view bucket, std::string_view part) {
  return std::string(bucket) + std::string(part);
}

// Fails with BucketNotEmpty.
Status expect_empty(std::string_view name, gridfs::PathNamespace& paths) {
  GM_ASSIGN(auto listing, paths.list(""));
  GM_ASSIGN(auto first, listing->next());
  if (!first) return {};
  return fail(gridfs::kBucketNotEmpty,
              "bucket " + std::string(name) + " still holds " + first->name);
}

}  // namespace

uint64_t bucket_ino(std::string_view shown_name) {
  // 63 bits of FNV-1a, never 0 or 1.
  uint64_t hash = 0xCBF29CE484222325U;
  for (char c : shown_name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3U;
  return (hash >> 1) | 2;
}

Result<std::shared_ptr<gridfs::PathNamespace>> MountedBucket::paths() {
  // The lock is held while the namespace opens, so that it opens only once. Other threads that want
  // this bucket need the namespace anyway.
  MutexLock lock(mutex_);
  // Opening a removed bucket would create it again.
  if (removed_) return fail(gridfs::kNoSuchEntry, "bucket " + name_ + " has been removed");
  if (!namespace_) {
    GM_ASSIGN(namespace_, buckets_.open_namespace(name_));
  }
  return namespace_;
}

uint64_t MountedBucket::dirty_bytes() {
  if (!mutex_.try_lock()) return 0;
  const uint64_t bytes = namespace_ ? namespace_->files().dirty_bytes() : 0;
  mutex_.unlock();
  return bytes;
}

Buckets::Buckets(engine::Store& store, BucketSettings settings)
    : store_(store),
      settings_(std::move(settings)),
      database_(store.database(settings_.database)) {}

Result<std::vector<std::string>> Buckets::names() const {
  GM_ASSIGN(auto snapshot, store_.snapshot());
  return gridfs::bucket_names(*database_, *snapshot);
}

FileUsage Buckets::file_usage() {
  FileUsage usage;
  MutexLock lock(mutex_);
  for (const auto& [name, bucket] : open_) {
    usage.open_files += bucket->handles().load();
    usage.dirty_bytes += bucket->dirty_bytes();
  }
  return usage;
}

Result<std::shared_ptr<MountedBucket>> Buckets::find(std::string_view name) {
  GM_ASSIGN(bool there, exists(name));
  MutexLock lock(mutex_);
  std::string key(name);
  if (!there) {
    return fail(gridfs::kNoSuchEntry,
                "database " + settings_.database + " has no bucket named " + key);
  }
  std::shared_ptr<MountedBucket>& bucket = open_[key];
  if (!bucket) bucket = std::make_shared<MountedBucket>(*this, key);
  return bucket;
}

std::shared_ptr<gridfs::PathNamespace> Buckets::find_opened(const std::string& name) {
  std::shared_ptr<MountedBucket> bucket;
  {
    MutexLock lock(mutex_);
    const auto found = open_.find(name);
    if (found != open_.end()) bucket = found->second;
  }
  return bucket ? bucket->opened_namespace() : nullptr;
}

Result<std::shared_ptr<MountedBucket>> Buckets::create(std::string_view name) {
  GM_TRY(check_bucket_name(settings_.database, name));
  GM_ASSIGN(bool there, exists(name));
  if (there) {
    return fail(gridfs::kEntryExists, "bucket " + std::string(name) + " exists already");
  }
  gridfs::BucketOptions options = settings_.bucket;
  options.name = name;
  gridfs::Bucket bucket(store_, database_, options);
  GM_ASSIGN(auto transaction, store_.begin());
  GM_TRY(bucket.ensure_indexes(*transaction));
  GM_TRY(transaction->commit());
  return find(name);
}

Status Buckets::remove(std::string_view name) {
  GM_ASSIGN(std::shared_ptr<MountedBucket> mounted, find(name));
  GM_ASSIGN(std::shared_ptr<gridfs::PathNamespace> paths, mounted->paths());
  GM_TRY(expect_empty(name, *paths));
  GM_TRY(retire(*mounted));
  // Meanwhile a driver may have made a file, or the listing may not show it.
  GM_TRY(paths->bucket().drop_if_empty());
  MutexLock lock(mutex_);
  open_.erase(std::string(name));
  MutexLock bucket_lock(mounted->mutex_);
  mounted->removed_ = true;
  return {};
}

Status Buckets::rename(std::string_view from, std::string_view to, bool replaces) {
  GM_TRY(check_bucket_name(settings_.database, to));
  GM_ASSIGN(std::shared_ptr<MountedBucket> mounted, find(from));
  GM_ASSIGN(bool taken, exists(to));
  if (taken && !replaces) {
    return fail(gridfs::kEntryExists, "bucket " + std::string(to) + " exists already");
  }
  std::shared_ptr<MountedBucket> replaced;
  std::shared_ptr<gridfs::PathNamespace> replaced_paths;
  if (taken) {
    GM_ASSIGN(replaced, find(to));
    GM_ASSIGN(replaced_paths, replaced->paths());
    GM_TRY(expect_empty(to, *replaced_paths));
  }
  GM_TRY(retire(*mounted));
  if (replaced) GM_TRY(retire(*replaced));
  GM_TRY(rename_collections(from, to, taken ? &replaced_paths->bucket() : nullptr));
  MutexLock lock(mutex_);
  open_.erase(std::string(from));
  open_[std::string(to)] = mounted;
  {
    MutexLock bucket_lock(mounted->mutex_);
    mounted->name_ = to;
  }
  if (replaced) {
    MutexLock bucket_lock(replaced->mutex_);
    replaced->removed_ = true;
  }
  return {};
}

Status Buckets::rename_collections(std::string_view from, std::string_view to,
                                   const gridfs::Bucket* replaced) {
  GM_ASSIGN(auto transaction, store_.begin());
  const bool replaces = replaced != nullptr;
  if (replaces) GM_TRY(replaced->expect_empty(*transaction));
  for (std::string_view part : kParts) {
    const std::string target = collection_name(to, part);
    GM_ASSIGN(bool there, database_->exists(*transaction, collection_name(from, part)));
    if (there) {
      // The new name may be taken by a collection that belongs to no bucket. Then nothing is
      // renamed.
      GM_TRY(database_->rename(*transaction, collection_name(from, part),
                               {database_->name(), target}, replaces));
    } else if (replaces) {
      Status dropped = database_->drop(*transaction, target);
      if (!dropped && dropped.error().code() != ErrorCode::kNamespaceNotFound) return dropped;
    }
  }
  return transaction->commit();
}

Status Buckets::close() {
  Status result;
  MutexLock lock(mutex_);
  for (auto& [name, bucket] : open_) {
    MutexLock bucket_lock(bucket->mutex_);
    if (!bucket->namespace_) continue;
    Status closed = bucket->namespace_->close();
    if (!closed && result) {
      result = fail(std::move(closed).error().with_context("closing bucket " + name));
    }
    bucket->namespace_.reset();
  }
  return result;
}

Result<std::shared_ptr<gridfs::PathNamespace>> Buckets::open_namespace(const std::string& name) {
  gridfs::BucketOptions options = settings_.bucket;
  options.name = name;
  GM_ASSIGN(auto paths, gridfs::PathNamespace::open(store_, database_, options, settings_.paths,
                                                    settings_.files));
  return std::shared_ptr<gridfs::PathNamespace>(std::move(paths));
}

Result<bool> Buckets::exists(std::string_view name) const {
  GM_ASSIGN(auto snapshot, store_.snapshot());
  return database_->exists(*snapshot, collection_name(name, kParts[0]));
}

Status check_bucket_name(std::string_view database, std::string_view bucket) {
  if (bucket.starts_with("system.")) {
    return fail(ErrorCode::kInvalidNamespace,
                "a bucket cannot be named " + std::string(bucket) + ": system.* is reserved");
  }
  for (std::string_view part : kParts) {
    GM_TRY(engine::check_namespace({std::string(database), collection_name(bucket, part)}));
  }
  return {};
}

Status Buckets::retire(MountedBucket& bucket) {
  // The kernel reports the close of a file a little after close(2) has returned. So this function
  // waits briefly for files that were just closed.
  const auto deadline = std::chrono::steady_clock::now() + kReleasePatience;
  while (bucket.handles_.load() > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  MutexLock lock(bucket.mutex_);
  if (bucket.handles_.load() > 0) {
    return fail(kBusy, "files of bucket " + bucket.name_ + " are open");
  }
  if (!bucket.namespace_) return {};
  GM_TRY(bucket.namespace_->close());
  bucket.namespace_.reset();
  return {};
}

}  // namespace gridmount::fuse
