// A folder being listed: what opendir(3) gave and readdir(3) goes on with.
//
// Offsets are what telldir(3) returns: 1 is behind ".", 2 behind "..", and an entry's own is its
// stream cookie plus 2. They stay good until the directory is closed.
//
// Thread-safety: one thread at a time; FileSystem locks mutex() around each use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/thread_safety.h"
#include "fuse/tree/inode_table.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::fuse {

struct ListedEntry {
  enum class Kind { kSelf, kParent, kBucket, kNode };
  Kind kind = Kind::kNode;
  std::string_view name;               // valid until consume() or seek()
  uint64_t next_offset = 0;            // of the entry behind this one
  const gridfs::Node* node = nullptr;  // with kNode, valid as the name
};

class OpenDirectory {
 public:
  // The mount's root: `names` are the buckets as shown, already escaped.
  OpenDirectory(uint64_t number, std::vector<std::string> names);
  // A folder of a bucket. The volume is kept so that the stream outlives its bucket.
  static Result<std::unique_ptr<OpenDirectory>> open(uint64_t number,
                                                     std::shared_ptr<MountedBucket> bucket,
                                                     std::shared_ptr<gridfs::Volume> volume,
                                                     std::string path);

  // Names that come from `stream`, and that the kernel may keep or not.
  OpenDirectory(uint64_t number, std::shared_ptr<MountedBucket> bucket,
                std::shared_ptr<gridfs::Volume> volume, std::string path,
                std::unique_ptr<gridfs::DirectoryStream> stream, bool may_be_cached);

  uint64_t number() const { return number_; }
  // By the kernel, until it changes the folder itself.
  bool may_be_cached() const { return may_be_cached_; }
  const std::shared_ptr<MountedBucket>& bucket() const { return bucket_; }
  Mutex& mutex() GM_THREAD_ATTRIBUTE(lock_returned(mutex_)) { return mutex_; }

  // Listing it changes the folder's atime. Before it is used.
  void count_as_reading() { counts_as_reading_ = true; }
  // The listing begins.
  void note_read() GM_REQUIRES(mutex_) {
    if (counts_as_reading_) (void)volume_->note_read(path_);
  }

  // Buckets may have come and gone since: the root takes the names anew when it is rewound.
  bool lists_buckets() const { return bucket_ == nullptr; }
  void set_bucket_names(std::vector<std::string> names) GM_REQUIRES(mutex_) {
    names_ = std::move(names);
  }

  // To where the reader wants to go on; `path` is where the folder is now. kInvalidArgument for an
  // offset this directory never gave.
  Status seek(uint64_t offset, std::string_view path) GM_REQUIRES(mutex_);
  // The entry at the position, nothing at the end. It stays there until consume().
  Result<std::optional<ListedEntry>> peek() GM_REQUIRES(mutex_);
  void consume() GM_REQUIRES(mutex_);

 private:
  const uint64_t number_;
  const bool may_be_cached_;
  bool counts_as_reading_ = false;
  const std::shared_ptr<MountedBucket> bucket_;
  const std::shared_ptr<gridfs::Volume> volume_;

  Mutex mutex_;
  std::vector<std::string> names_ GM_GUARDED_BY(mutex_);
  std::string path_ GM_GUARDED_BY(mutex_);
  std::unique_ptr<gridfs::DirectoryStream> stream_ GM_GUARDED_BY(mutex_);
  uint64_t offset_ GM_GUARDED_BY(mutex_) = 0;
  // Read from the stream and not consumed: the entry at offset_.
  std::optional<gridfs::DirectoryEntry> pending_ GM_GUARDED_BY(mutex_);
};

}  // namespace gridmount::fuse
