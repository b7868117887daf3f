// Reads of open files, and their atimes.
#include <algorithm>
#include <span>

#include "fuse/tree/file_system.h"

namespace gridmount::fuse {

Result<gridfs::ReadResult> FileSystem::read(FileHandle& file, int64_t offset, size_t size) {
  if (!file.generated) {
    const std::shared_ptr<gridfs::File> content = file.file();
    Result<gridfs::ReadResult> read = content->read(offset, size);
    // The first read stands for all. A process that reads on updates the atime once more when it
    // closes the file. The kernel requests the atime again after each read request.
    if (read && file.counts_as_reading && (!file.was_read.exchange(true) || needs_every_read())) {
      (void)file.paths->record_read(*content);
    }
    return read;
  }
  const std::string& text = file.generated->text();
  const std::span bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const size_t from = std::min<size_t>(static_cast<size_t>(offset), bytes.size());
  return gridfs::ReadResult::of(bytes.subspan(from, std::min(size, bytes.size() - from)));
}

bool FileSystem::record_close(FileHandle& file, Closing closing) {
  if (file.for_writing) {
    record_writer_closed(file);
    return false;
  }
  if (!file.counts_as_reading) return false;
  if (needs_every_read() && !file.was_read) return false;
  // For an executed program, the kernel reports only the last close.
  const bool was_closed = file.was_closed.exchange(true);
  if (was_closed && closing == Closing::kByAll) return false;
  return file.paths->record_read(*file.file());
}

void FileSystem::record_writer_closed(FileHandle& file) {
  if (file.was_closed.exchange(true)) return;
  MutexLock lock(handles_mutex_);
  --writers_[file.ino].not_closed;
}

}  // namespace gridmount::fuse
