// Ranges of open files: allocation, zeroing, holes, copies.
#include <fcntl.h>
#include <linux/falloc.h>

#include <algorithm>
#include <vector>

#include "fuse/errno.h"
#include "fuse/tree/file_system.h"
#include "gridfs/bucket/chunk_size.h"
#include "gridfs/bucket/error.h"
#include "gridfs/bucket/file_time.h"
#include "gridfs/bucket/posix_changes.h"

namespace gridmount::fuse {

namespace {

using gridfs::TimeUpdate;

// Bytes copied per piece, so that memory use does not grow with the size of the call.
constexpr int64_t kPieceBytes = 1 << 20;
// Bytes copied per call. The caller continues where the call ended, and other calls get their turn.
constexpr int64_t kCopyBytesMax = 64 << 20;

// Returns the bytes in memory of their own. The writer may have to wait for the memory of unwritten
// chunks, and must not hold any of that memory meanwhile.
Result<std::vector<uint8_t>> read_piece(gridfs::File& file, int64_t offset, size_t size) {
  GM_ASSIGN(const gridfs::ReadResult read, file.read(offset, size));
  std::vector<uint8_t> bytes;
  bytes.reserve(read.size());
  for (const iovec& piece : read.pieces()) {
    const auto* const begin = static_cast<const uint8_t*>(piece.iov_base);
    bytes.insert(bytes.end(), begin, begin + piece.iov_len);
  }
  return bytes;
}

// Copies at most `size` bytes of the hole at `offset`, if there is one. Returns how many were
// copied.
Result<int64_t> copy_hole(gridfs::File& from, int64_t offset, gridfs::File& to, int64_t to_offset,
                          int64_t size, TimeUpdate times) {
  GM_ASSIGN(const std::optional<int64_t> data, from.next_data(offset));
  const int64_t end = std::min(data.value_or(from.length()), offset + size);
  // A hole smaller than a chunk is cheaper to copy as part of a piece.
  if (end - offset < from.document().chunk_bytes) return 0;
  const int64_t to_end = to_offset + (end - offset);
  GM_TRY(to.zero(to_offset, end - offset, times));
  if (to.length() < to_end) GM_TRY(to.truncate(to_end, times));
  return end - offset;
}

}  // namespace

Status FileSystem::clear_set_id(FileHandle& file, const GroupCheck& may_keep_group_id) {
  const uint32_t default_group = buckets_.settings().paths.default_owner.gid;
  const auto cleared = [&](const gridfs::PosixFields& now) {
    return gridfs::without_set_id(now.mode.value_or(0), now.gid.value_or(default_group),
                                  may_keep_group_id);
  };
  const gridfs::PosixFields posix = file.file()->document().posix;
  if (cleared(posix) == posix.mode.value_or(0)) return {};
  return file.file()->change_posix([&](const gridfs::PosixFields& now) {
    gridfs::PosixFields changes;
    changes.mode = cleared(now);
    return changes;
  });
}

// With writeback, the kernel has set the times before this call.
Status FileSystem::fallocate(FileHandle& file, int mode, int64_t offset, int64_t size) {
  constexpr int kKnown = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;
  const bool punches = (mode & FALLOC_FL_PUNCH_HOLE) != 0;
  const bool keeps_size = (mode & FALLOC_FL_KEEP_SIZE) != 0;
  const bool zeroes = (mode & FALLOC_FL_ZERO_RANGE) != 0;
  if ((mode & ~kKnown) != 0 || (punches && (zeroes || !keeps_size))) {
    return fail(kNotSupported, "fallocate: unsupported mode " + std::to_string(mode));
  }
  const gridfs::FilesDocument document = file.file()->document();
  const int64_t bytes_max = gridfs::max_file_bytes(document.chunk_bytes);
  if (offset > bytes_max || size > bytes_max - offset) {
    return fail(gridfs::kFileTooLarge, "fallocate: a file with chunks of " +
                                           std::to_string(document.chunk_bytes) +
                                           " bytes can have at most " + std::to_string(bytes_max));
  }
  if (!punches) {
    GM_ASSIGN(const engine::StoreStats stats, statfs());
    if (size > static_cast<int64_t>(stats.available_bytes)) {
      return fail(ErrorCode::kOutOfDiskSpace,
                  "fallocate: there is no room for " + std::to_string(size) + " bytes");
    }
    if (!keeps_size && offset + size > document.length) {
      GM_TRY(file.file()->truncate(offset + size, time_update()));
    }
  }
  if (punches || zeroes) GM_TRY(file.file()->zero(offset, size, time_update()));
  if (time_update() == TimeUpdate::kNow) {
    const timespec now = gridfs::file_time_now();
    file.file()->set_times(now, now);
  }
  return punches ? Status() : file.file()->fallocate(offset, size);
}

Result<int64_t> FileSystem::lseek(FileHandle& file, int64_t offset, int whence) {
  if (offset < 0) return fail(kNoSuchOffset, "the offset is negative");
  std::optional<int64_t> found;
  if (file.generated) {
    const auto end = static_cast<int64_t>(file.generated->text().size());
    if (offset < end) found = whence == SEEK_DATA ? offset : end;
  } else {
    GM_ASSIGN(found, whence == SEEK_DATA ? file.file()->next_data(offset)
                                         : file.file()->next_hole(offset));
  }
  if (!found) {
    return fail(kNoSuchOffset, "the file has no data at or after byte " + std::to_string(offset));
  }
  return *found;
}

bool FileSystem::is_open_for_writing(uint64_t ino) const {
  MutexLock lock(handles_mutex_);
  return writers_.contains(ino);
}

bool FileSystem::will_be_closed(uint64_t ino) const {
  MutexLock lock(handles_mutex_);
  const auto writers = writers_.find(ino);
  return writers != writers_.end() && writers->second.not_closed > 0;
}

Result<int64_t> FileSystem::copy_file_range(FileHandle& from, int64_t offset, FileHandle& to,
                                            int64_t to_offset, int64_t size) {
  if (from.generated) {
    return fail(kNotSupported,
                "a file of the control directory cannot be copied by copy_file_range");
  }
  size = std::min(size, kCopyBytesMax);
  const std::shared_ptr<gridfs::File> source = from.file();
  const std::shared_ptr<gridfs::File> target = to.file();
  int64_t copied = 0;
  while (copied < size) {
    const Result<int64_t> skipped = copy_hole(*source, offset + copied, *target, to_offset + copied,
                                              size - copied, time_update());
    // Reports the bytes copied so far. The next call returns the error.
    if (!skipped && copied > 0) return copied;
    if (!skipped) return fail(skipped.error());
    copied += *skipped;
    if (*skipped > 0) continue;
    const int64_t wanted = std::min(size - copied, kPieceBytes);
    Result<std::vector<uint8_t>> piece =
        read_piece(*source, offset + copied, static_cast<size_t>(wanted));
    if (!piece && copied > 0) return copied;
    if (!piece) return fail(std::move(piece).error());
    if (piece->empty()) break;
    const Status written = write(to, to_offset + copied, *piece);
    if (!written && copied > 0) return copied;
    if (!written) return fail(written.error());
    copied += static_cast<int64_t>(piece->size());
  }
  return copied;
}

}  // namespace gridmount::fuse
