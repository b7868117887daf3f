// The operating system's file calls as files that must not be lost need them: whole reads and
// writes, errors as values, retries of interrupted calls.
//
// Every call that a crash test must see goes through here or through LMDB, and ends in one of
// open, pread, pwrite, ftruncate, fallocate, fdatasync, fsync, rename.
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

// An open file. Movable; closes itself.
class File {
 public:
  File() = default;
  File(File&& other) noexcept { swap(other); }
  File& operator=(File&& other) noexcept {
    swap(other);
    return *this;
  }
  ~File();

  // `flags` as for open(2); O_CLOEXEC is added. New files get mode 0600 whatever the umask adds.
  // StoreDamaged if what is there is no regular file, which may neither be waited for nor written
  // to; with O_DIRECTORY it is a folder.
  static Result<File> open(const std::filesystem::path& path, int flags);
  // The same, but a plain errno on failure, for callers that tell its values apart, or kNotRegular.
  static int open_errno(const std::filesystem::path& path, int flags, File& file);

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  const std::filesystem::path& path() const { return path_; }

  Result<uint64_t> size() const;
  Result<uint64_t> inode() const;
  // What it takes on the disk; less than its size where it has holes.
  Result<uint64_t> allocated_bytes() const;
  // No where that cannot be found out.
  bool has_holes() const;
  // Whether it still has its name in `folder`, the open folder that it was opened in: it was not
  // removed, moved or replaced. Yes where that cannot be found out.
  bool is_in_place(const File& folder) const;
  // Up to `size` bytes: fewer at the file's end.
  Result<std::vector<uint8_t>> read(uint64_t offset, size_t size) const;
  // All of the bytes or an error.
  Status write(uint64_t offset, std::span<const uint8_t> bytes) const;
  // Sets the size; grown space is a hole and reads as zeros.
  Status resize(uint64_t size) const;
  // Gives these bytes of it back to the file system: they read as zeros, its size stays. False if
  // the file system cannot do that.
  Result<bool> punch(uint64_t offset, uint64_t bytes) const;
  // Contents and size are durable on return. After an error nothing may be assumed of what was
  // written since the last success, nor of a later success (Linux drops the pages it could not
  // write).
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

// A write beyond the process's limit (ulimit -f) is an error from then on, and not its end; what
// was said of SIGXFSZ otherwise stays. For programs to call before they write anything.
void outlive_file_size_limit();

// The file system that the file or folder is on.
Result<struct statvfs> file_system_of(const std::filesystem::path& path);
// What this process may still write there.
uint64_t free_bytes(const struct statvfs& file_system);

Status rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
// No error if it does not exist.
Status remove_file(const std::filesystem::path& path);
// Makes the folder's entries durable.
Status sync_folder(const std::filesystem::path& folder);

}  // namespace gridmount::system
