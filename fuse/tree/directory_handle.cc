#include "fuse/tree/directory_handle.h"

#include <utility>

#include "fuse/errno.h"

namespace gridmount::fuse {

namespace {

constexpr uint64_t kDots = 2;  // smaller offsets belong to "." and ".."

}  // namespace

DirectoryHandle::DirectoryHandle(uint64_t ino, std::vector<std::string> names)
    : ino_(ino), may_be_cached_(false), names_(std::move(names)) {}

DirectoryHandle::DirectoryHandle(uint64_t ino, std::shared_ptr<MountedBucket> bucket,
                                 std::shared_ptr<gridfs::PathNamespace> paths, std::string path,
                                 std::unique_ptr<gridfs::DirectoryStream> stream,
                                 bool may_be_cached)
    : ino_(ino),
      may_be_cached_(may_be_cached),
      bucket_(std::move(bucket)),
      namespace_(std::move(paths)),
      path_(std::move(path)),
      stream_(std::move(stream)) {}

Result<std::unique_ptr<DirectoryHandle>> DirectoryHandle::open(
    uint64_t ino, std::shared_ptr<MountedBucket> bucket,
    std::shared_ptr<gridfs::PathNamespace> paths, std::string path) {
  GM_ASSIGN(auto stream, paths->list(path));
  return std::make_unique<DirectoryHandle>(ino, std::move(bucket), std::move(paths),
                                           std::move(path), std::move(stream), true);
}

Status DirectoryHandle::seek(uint64_t offset, std::string_view path) {
  if (!stream_) {
    if (offset > names_.size() + kDots) {
      // Buckets were dropped since the offset was returned.
      offset = names_.size() + kDots;
    }
    offset_ = offset;
    return {};
  }
  if (path != path_) {
    // The directory was renamed while it is being listed. Cookies of the old stream lead to the
    // same names.
    GM_ASSIGN(stream_, namespace_->list(path));
    path_ = path;
  }
  // The pending entry is dropped even if the position does not change: entries that were read ahead
  // may have changed since, and the entries returned now fill the kernel's caches.
  pending_.reset();
  const uint64_t cookie = offset < kDots ? 0 : offset - kDots;
  GM_TRY(stream_->seek(cookie));
  offset_ = offset;
  return {};
}

Result<std::optional<ListedEntry>> DirectoryHandle::peek() {
  if (offset_ < kDots) {
    const bool self = offset_ == 0;
    return ListedEntry{.kind = self ? ListedEntry::Kind::kSelf : ListedEntry::Kind::kParent,
                       .name = self ? "." : "..",
                       .next_offset = offset_ + 1};
  }
  if (!stream_) {
    const uint64_t index = offset_ - kDots;
    if (index >= names_.size()) return std::nullopt;
    return ListedEntry{
        .kind = ListedEntry::Kind::kBucket, .name = names_[index], .next_offset = offset_ + 1};
  }
  if (!pending_) {
    GM_ASSIGN(pending_, stream_->next());
    if (!pending_) return std::nullopt;
  }
  return ListedEntry{.kind = ListedEntry::Kind::kNode,
                     .name = pending_->name,
                     .next_offset = pending_->cookie + kDots,
                     .node = &pending_->node};
}

void DirectoryHandle::consume() {
  if (offset_ < kDots || !stream_) {
    ++offset_;
    return;
  }
  if (!pending_) return;
  offset_ = pending_->cookie + kDots;
  pending_.reset();
}

}  // namespace gridmount::fuse
