// Wraps the operating system's file calls, for files that must not be lost. The functions read and
// write all bytes, and return errors as values. They repeat interrupted calls, except for syncs: an
// interrupted sync fails.
//
// The crash tests intercept the system calls that change a store's files
// (tests/engine/local/crash/file_calls.cc). The functions of this header, LMDB and callers of fd()
// make these calls. If you use a new kind of call, add it to the tests too.
//
// The functions fail with the code that system_error() chooses for the errno, such as
// OutOfDiskSpace, IoError or PermissionDenied.
//
// Thread-safety: several threads may use one File, but no thread may move from it or assign to it
// meanwhile. The functions are thread-safe.
#pragma once

#include <sys/statvfs.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::system {

// An open file. Move-only. The destructor closes the file.
class File {
 public:
  File() = default;
  File(File&& other) noexcept { swap(other); }
  File& operator=(File&& other) noexcept {
    swap(other);
    return *this;
  }
  ~File();

  // `flags` as for open(2). O_CLOEXEC is added, and without O_DIRECTORY also O_NONBLOCK. New files
  // get mode 0600 without the bits of the umask. Fails with StoreDamaged if the path is not a
  // regular file: opening a pipe or a device could block, and a store must not write to a device.
  // With O_DIRECTORY the path must be a directory.
  static Result<File> open(const std::filesystem::path& path, int flags);
  // Like open(), for callers that distinguish the causes of a failure. Returns 0 after a success,
  // otherwise an errno or kNotRegular (system_error.h). Sets `file` only after a success.
  static int open_errno(const std::filesystem::path& path, int flags, File& file);

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  const std::filesystem::path& path() const { return path_; }

  Result<uint64_t> size() const;
  Result<uint64_t> inode() const;
  // Returns the space that the file takes on the disk. Holes take none, so the result can be less
  // than size().
  Result<uint64_t> allocated_bytes() const;
  // Returns true if the file has holes, and false if that cannot be determined.
  bool has_holes() const;
  // Returns whether the file still has its name in `folder`, which is the open folder in which the
  // file was opened. Returns false if the file was unlinked, moved or replaced, and true if this
  // cannot be determined.
  bool is_in_place(const File& folder) const;
  // Reads up to `size` bytes. Returns fewer at the end of the file.
  Result<std::vector<uint8_t>> read(uint64_t offset, size_t size) const;
  // Writes all bytes or fails.
  Status write(uint64_t offset, std::span<const uint8_t> bytes) const;
  // Sets the size. Added space is a hole and reads as zeros.
  Status resize(uint64_t size) const;
  // Frees the disk space of the `bytes` bytes at `offset`. They then read as zeros, and the file
  // keeps its size. Returns false if the file system does not support this.
  Result<bool> punch(uint64_t offset, uint64_t bytes) const;
  // Makes the contents and the size durable. After an error, the writes since the last success may
  // be lost, even if a later call succeeds: Linux may drop pages that it could not write.
  Status sync_data() const;

 private:
  File(int fd, std::filesystem::path path) : fd_(fd), path_(std::move(path)) {}
  void swap(File& other) noexcept {
    std::swap(fd_, other.fd_);
    path_.swap(other.path_);
  }
  Error error(int code, std::string_view doing) const;

  int fd_ = -1;
  std::filesystem::path path_;
};

// After this call, a write beyond the limit of `ulimit -f` fails and does not end the process: the
// process ignores SIGXFSZ if this signal still had its default action. Programs must call this
// function before they write anything.
void outlive_file_size_limit();

// Returns the figures (statvfs) of the file system that holds the file or folder.
Result<struct statvfs> file_system_of(const std::filesystem::path& path);
// Returns how many bytes this process may still write to this file system.
uint64_t free_bytes(const struct statvfs& file_system);

// Renames a file. Replaces the file `to` if it exists. The rename is durable only after
// sync_folder().
Status rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
// Unlinks a file. Succeeds if the file does not exist. The change is durable only after
// sync_folder().
Status remove_file(const std::filesystem::path& path);
// Makes the folder's directory entries durable.
Status sync_folder(const std::filesystem::path& folder);

}  // namespace gridmount::system
