// Replaces the C library's calls that change files. A call fails if the test wants it to
// (fault_injector.h). Otherwise it is recorded (write_recorder.h) and done, except for calls that
// only take time here: syncs, and the allocation of space before a write.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/engine/local/crash/fault_injector.h"
#include "tests/engine/local/crash/write_recorder.h"

namespace gridmount::local::testing {
namespace {

template <typename Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool recording() {
  return WriteRecorder::instance().recording();
}

bool fails(FaultKind kind, int fd) {
  return FaultInjector::instance().fails(kind, fd);
}

// Makes the file long enough. Allocates no space, because allocation only takes time.
int allocate(int fd, uint64_t end) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return -1;
  if (static_cast<uint64_t>(status.st_size) >= end) return 0;
  return ::ftruncate(fd, static_cast<off_t>(end));
}

}  // namespace
}  // namespace gridmount::local::testing

using gridmount::local::testing::allocate;
using gridmount::local::testing::fails;
using gridmount::local::testing::FaultKind;
using gridmount::local::testing::next_function;
using gridmount::local::testing::recording;
using gridmount::local::testing::WriteRecorder;

extern "C" int open(const char* path, int flags, ...) {
  static const auto real = next_function<int (*)(const char*, int, ...)>("open");
  mode_t mode = 0;
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  const int fd = real(path, flags, mode);
  if (fd >= 0 && recording() && (flags & (O_CREAT | O_TRUNC)) != 0) {
    WriteRecorder::instance().opened(fd, path, (flags & O_TRUNC) != 0);
  }
  return fd;
}

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static const auto real = next_function<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  if (fails(FaultKind::kWrite, fd)) return -1;
  if (recording()) {
    WriteRecorder::instance().write(fd, static_cast<uint64_t>(offset), bytes, size);
  }
  return real(fd, bytes, size, offset);
}

extern "C" ssize_t write(int fd, const void* bytes, size_t size) {
  static const auto real = next_function<ssize_t (*)(int, const void*, size_t)>("write");
  if (fails(FaultKind::kWrite, fd)) return -1;
  if (recording()) {
    const off_t offset = ::lseek(fd, 0, SEEK_CUR);
    if (offset >= 0) {
      WriteRecorder::instance().write(fd, static_cast<uint64_t>(offset), bytes, size);
    }
  }
  return real(fd, bytes, size);
}

// LMDB seeks and then writes several pages at once.
extern "C" ssize_t writev(int fd, const struct iovec* parts, int count) {
  static const auto real = next_function<ssize_t (*)(int, const struct iovec*, int)>("writev");
  if (fails(FaultKind::kWrite, fd)) return -1;
  if (recording()) {
    auto offset = static_cast<uint64_t>(::lseek(fd, 0, SEEK_CUR));
    for (int i = 0; i < count; ++i) {
      WriteRecorder::instance().write(fd, offset, parts[i].iov_base, parts[i].iov_len);
      offset += parts[i].iov_len;
    }
  }
  return real(fd, parts, count);
}

extern "C" int ftruncate(int fd, off_t size) noexcept {
  static const auto real = next_function<int (*)(int, off_t)>("ftruncate");
  if (fails(FaultKind::kResize, fd)) return -1;
  if (recording()) WriteRecorder::instance().resize(fd, static_cast<uint64_t>(size));
  return real(fd, size);
}

// With a mode, the store makes holes, so zeros are recorded.
extern "C" int fallocate(int fd, int mode, off_t offset, off_t size) {
  static const auto real = next_function<int (*)(int, int, off_t, off_t)>("fallocate");
  if (fails(FaultKind::kWrite, fd)) return -1;
  if (mode == 0) return allocate(fd, static_cast<uint64_t>(offset + size));
  if (recording()) {
    const std::vector<uint8_t> zeros(static_cast<size_t>(size));
    WriteRecorder::instance().write(fd, static_cast<uint64_t>(offset), zeros.data(), zeros.size());
  }
  return real(fd, mode, offset, size);
}

extern "C" int posix_fallocate(int fd, off_t offset, off_t size) {
  static const auto resize = next_function<int (*)(int, off_t)>("ftruncate");
  struct stat status {};
  if (::fstat(fd, &status) != 0) return errno;
  const bool grows = status.st_size < offset + size;
  return grows && resize(fd, offset + size) != 0 ? errno : 0;
}

extern "C" int fdatasync(int fd) {
  if (fails(FaultKind::kSync, fd)) return -1;
  if (recording()) WriteRecorder::instance().sync(fd);
  return 0;
}

extern "C" int fsync(int fd) {
  if (fails(FaultKind::kSync, fd)) return -1;
  if (recording()) WriteRecorder::instance().sync(fd);
  return 0;
}

extern "C" int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = next_function<int (*)(const char*, mode_t)>("mkdir");
  const int result = real(path, mode);
  if (result == 0 && recording()) WriteRecorder::instance().made_folder(path);
  return result;
}

extern "C" int rmdir(const char* path) noexcept {
  static const auto real = next_function<int (*)(const char*)>("rmdir");
  const int result = real(path);
  if (result == 0 && recording()) WriteRecorder::instance().removed(path);
  return result;
}

extern "C" int unlink(const char* path) noexcept {
  static const auto real = next_function<int (*)(const char*)>("unlink");
  const int result = real(path);
  if (result == 0 && recording()) WriteRecorder::instance().removed(path);
  return result;
}

// std::filesystem uses remove() for a single path, and unlinkat for the contents of folders.
extern "C" int remove(const char* path) noexcept {
  static const auto real = next_function<int (*)(const char*)>("remove");
  const int result = real(path);
  if (result == 0 && recording()) WriteRecorder::instance().removed(path);
  return result;
}

extern "C" int unlinkat(int folder, const char* name, int flags) noexcept {
  static const auto real = next_function<int (*)(int, const char*, int)>("unlinkat");
  std::string path = name;
  if (recording() && folder != AT_FDCWD && name[0] != '/') {
    char above[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(folder);
    const ssize_t size = ::readlink(link.c_str(), above, sizeof above);
    if (size > 0) path = std::string(above, static_cast<size_t>(size)) + "/" + name;
  }
  const int result = real(folder, name, flags);
  if (result == 0 && recording()) WriteRecorder::instance().removed(path);
  return result;
}

extern "C" int rename(const char* from, const char* to) noexcept {
  static const auto real = next_function<int (*)(const char*, const char*)>("rename");
  const int result = real(from, to);
  if (result == 0 && recording()) WriteRecorder::instance().renamed(from, to);
  return result;
}
