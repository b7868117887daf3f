// A directory that is being listed: the handle from opendir(3), which readdir(3) uses.
//
// telldir(3) returns offsets: 1 is the position after ".", 2 is the position after "..", and an
// entry's cookie plus 2 is the position after that entry. In a root of buckets, the number of the
// entry takes the place of the cookie. Offsets stay valid until the directory is closed, within the
// limits of DirectoryStream::seek().
//
// Not thread-safe: the caller must lock mutex() around each use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/thread_safety.h"
#include "fuse/tree/inode_table.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::fuse {

struct ListedEntry {
  enum class Kind { kSelf, kParent, kBucket, kNode };
  Kind kind = Kind::kNode;
  std::string_view name;               // valid until consume() or seek()
  uint64_t next_offset = 0;            // the offset after this entry
  const gridfs::Node* node = nullptr;  // with kNode; valid as long as `name`
};

class DirectoryHandle {
 public:
  // Makes a handle that lists a root of buckets. `names` are the names of the buckets in the form
  // that the mount shows (escaped). For a removed directory, `names` is empty.
  DirectoryHandle(uint64_t ino, std::vector<std::string> names);
  // Makes a handle that lists a directory of a bucket. The handle keeps the namespace alive,
  // because the stream uses it even after the bucket was removed. Fails as PathNamespace::list()
  // does.
  static Result<std::unique_ptr<DirectoryHandle>> open(uint64_t ino,
                                                       std::shared_ptr<MountedBucket> bucket,
                                                       std::shared_ptr<gridfs::PathNamespace> paths,
                                                       std::string path);

  // Makes a handle that lists the names from `stream`. If `may_be_cached` is true, the kernel may
  // cache the listing.
  DirectoryHandle(uint64_t ino, std::shared_ptr<MountedBucket> bucket,
                  std::shared_ptr<gridfs::PathNamespace> paths, std::string path,
                  std::unique_ptr<gridfs::DirectoryStream> stream, bool may_be_cached);

  uint64_t ino() const { return ino_; }
  // Returns true if the kernel may cache the listing until the directory changes.
  bool may_be_cached() const { return may_be_cached_; }
  const std::shared_ptr<MountedBucket>& bucket() const { return bucket_; }
  Mutex& mutex() GM_THREAD_ATTRIBUTE(lock_returned(mutex_)) { return mutex_; }

  // After this call, each listing counts as a read of the directory. Must be called before the
  // object is used.
  void count_as_reading() { counts_as_reading_ = true; }
  // Must be called when a listing begins.
  void record_read() GM_REQUIRES(mutex_) {
    if (counts_as_reading_) (void)namespace_->record_read(path_);
  }

  // Returns true for a root of buckets and for a removed directory. When a root is rewound, its
  // names are read again, because buckets may have been created or dropped since opendir(3).
  bool lists_buckets() const { return bucket_ == nullptr; }
  void set_bucket_names(std::vector<std::string> names) GM_REQUIRES(mutex_) {
    names_ = std::move(names);
  }

  // Moves to the offset. `path` is the present path of the directory. Fails with the error of the
  // store if the stream cannot be read. DirectoryStream::seek() says where an offset leads that
  // this directory has never returned. In a root of buckets, an offset beyond the last bucket leads
  // to the end.
  Status seek(uint64_t offset, std::string_view path) GM_REQUIRES(mutex_);
  // Returns the entry at the present position, or nothing at the end. Returns the same entry until
  // consume() is called.
  Result<std::optional<ListedEntry>> peek() GM_REQUIRES(mutex_);
  void consume() GM_REQUIRES(mutex_);

 private:
  const uint64_t ino_;
  const bool may_be_cached_;
  bool counts_as_reading_ = false;
  const std::shared_ptr<MountedBucket> bucket_;
  const std::shared_ptr<gridfs::PathNamespace> namespace_;

  Mutex mutex_;
  std::vector<std::string> names_ GM_GUARDED_BY(mutex_);
  std::string path_ GM_GUARDED_BY(mutex_);
  std::unique_ptr<gridfs::DirectoryStream> stream_ GM_GUARDED_BY(mutex_);
  uint64_t offset_ GM_GUARDED_BY(mutex_) = 0;
  // The entry at offset_, if it was read from the stream and not consumed yet.
  std::optional<gridfs::DirectoryEntry> pending_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
