#include "tests/engine/local/write_recorder.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace gridmount::local::testing {

WriteRecorder& WriteRecorder::instance() {
  static WriteRecorder recorder;
  return recorder;
}

void WriteRecorder::start(const std::filesystem::path& folder,
                          const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  files_.clear();
  events_.clear();
  by_inode_.clear();
  for (const std::string& name : names) {
    std::ifstream file(folder / name, std::ios::binary);
    struct stat status {};
    ::stat((folder / name).c_str(), &status);
    by_inode_[{status.st_dev, status.st_ino}] = static_cast<int>(files_.size());
    files_.push_back({name, {std::istreambuf_iterator<char>(file), {}}});
  }
  recording_ = true;
}

void WriteRecorder::stop() {
  const std::lock_guard lock(mutex_);
  recording_ = false;
}

void WriteRecorder::note(EventKind kind, uint64_t generation) {
  const std::lock_guard lock(mutex_);
  events_.push_back({.kind = kind, .file = 0, .number = generation, .bytes = {}});
}

void WriteRecorder::hold_sync_of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].name == name) held_file_ = static_cast<int>(i);
  }
}

void WriteRecorder::wait_for_held_sync() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return held_; });
}

void WriteRecorder::release() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  changed_.notify_all();
}

int WriteRecorder::file_of(int fd) const {
  const std::lock_guard lock(mutex_);
  if (!recording_) return -1;
  struct stat status {};
  if (::fstat(fd, &status) != 0) return -1;
  const auto found = by_inode_.find({status.st_dev, status.st_ino});
  return found == by_inode_.end() ? -1 : found->second;
}

void WriteRecorder::write(int file, uint64_t offset, const void* bytes, size_t size) {
  const auto* begin = static_cast<const uint8_t*>(bytes);
  const std::lock_guard lock(mutex_);
  events_.push_back({.kind = EventKind::kWrite,
                     .file = static_cast<size_t>(file),
                     .number = offset,
                     .bytes = {begin, begin + size}});
}

void WriteRecorder::resize(int file, uint64_t size) {
  const std::lock_guard lock(mutex_);
  events_.push_back(
      {.kind = EventKind::kResize, .file = static_cast<size_t>(file), .number = size, .bytes = {}});
}

void WriteRecorder::sync(int file) {
  std::unique_lock lock(mutex_);
  const auto position = static_cast<size_t>(file);
  const uint64_t begins = events_.size();
  events_.push_back(
      {.kind = EventKind::kSyncBegins, .file = position, .number = begins, .bytes = {}});
  if (held_file_ == file) {
    held_file_ = -1;
    held_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_; });
  }
  events_.push_back(
      {.kind = EventKind::kSyncEnds, .file = position, .number = begins, .bytes = {}});
}

namespace {

template <typename Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace gridmount::local::testing

using gridmount::local::testing::next_function;
using gridmount::local::testing::WriteRecorder;

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static const auto real = next_function<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  const int file = WriteRecorder::instance().file_of(fd);
  if (file >= 0) WriteRecorder::instance().write(file, static_cast<uint64_t>(offset), bytes, size);
  return real(fd, bytes, size, offset);
}

// LMDB seeks and then writes several pages at once.
extern "C" ssize_t writev(int fd, const struct iovec* parts, int count) {
  static const auto real = next_function<ssize_t (*)(int, const struct iovec*, int)>("writev");
  const int file = WriteRecorder::instance().file_of(fd);
  if (file >= 0) {
    auto offset = static_cast<uint64_t>(::lseek(fd, 0, SEEK_CUR));
    for (int i = 0; i < count; ++i) {
      WriteRecorder::instance().write(file, offset, parts[i].iov_base, parts[i].iov_len);
      offset += parts[i].iov_len;
    }
  }
  return real(fd, parts, count);
}

extern "C" int ftruncate(int fd, off_t size) noexcept {
  static const auto real = next_function<int (*)(int, off_t)>("ftruncate");
  const int file = WriteRecorder::instance().file_of(fd);
  if (file >= 0) WriteRecorder::instance().resize(file, static_cast<uint64_t>(size));
  return real(fd, size);
}

extern "C" int fdatasync(int fd) {
  const int file = WriteRecorder::instance().file_of(fd);
  if (file >= 0) WriteRecorder::instance().sync(file);
  return 0;
}
