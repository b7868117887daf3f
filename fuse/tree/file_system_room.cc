// FileSystem: the checks of free space for writes.
#include "fuse/tree/file_system.h"

namespace gridmount::fuse {
namespace {

// The number of write(2) calls of a handle between two forced writebacks. The kernel does not
// report how much dirty data it has of a file. For a writer of small pieces, each forced writeback
// costs more than the writes themselves.
constexpr uint32_t kWritesBetweenHandingOver = 16;

}  // namespace

Status FileSystem::write(FileHandle& file, int64_t offset, std::span<const uint8_t> bytes) {
  room_.record_written(bytes.size());
  const std::shared_ptr<gridfs::File> content = file.file();
  if (room_.is_short()) GM_TRY(content->expect_room());
  return content->write(offset, bytes, time_update());
}

bool FileSystem::begins_to_ask(uint64_t ino) {
  if (!room_.is_scarce()) return false;
  MutexLock lock(handles_mutex_);
  const auto writers = writers_.find(ino);
  if (writers == writers_.end()) return false;
  const uint64_t episode = room_.episode();
  return std::exchange(writers->second.asked_in, episode) != episode;
}

FileSystem::WriterCache FileSystem::writer_cache(uint64_t ino) const {
  if (!room_.is_scarce() || !is_open_for_writing(ino)) return WriterCache::kUsual;
  return room_.is_short() ? WriterCache::kNone : WriterCache::kShort;
}

Status FileSystem::expect_room(FileHandle& file, const std::function<void()>& write_back) {
  room_.check();
  const std::shared_ptr<gridfs::File> content = file.file();
  GM_TRY(content->expect_room());
  if (++file.writes_expected % kWritesBetweenHandingOver != 0) return {};
  write_back();
  return content->expect_room();
}

}  // namespace gridmount::fuse
