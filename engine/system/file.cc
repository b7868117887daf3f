#include "engine/system/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "engine/system/system_error.h"

namespace gridmount::system {
namespace {

constexpr mode_t kFileMode = 0600;

std::string doing_to(std::string_view doing, const std::filesystem::path& path) {
  return std::string(doing) + " " + path.string();
}

}  // namespace

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

Error File::error(int code, std::string_view doing) const {
  return system_error(code, doing_to(doing, path_));
}

int File::open_errno(const std::filesystem::path& path, int flags, File& file) {
  const bool is_folder = (flags & O_DIRECTORY) != 0;
  // Without O_NONBLOCK, the opening of a named pipe blocks until its other end is opened.
  const int all_flags = flags | O_CLOEXEC | (is_folder ? 0 : O_NONBLOCK);
  int fd;
  do {
    fd = ::open(path.c_str(), all_flags, kFileMode);
  } while (fd < 0 && errno == EINTR);
  const int code = fd < 0 ? errno : 0;
  File opened(fd, path);
  struct stat status {};
  const int looked = fd < 0 ? ::stat(path.c_str(), &status) : ::fstat(fd, &status);
  if (!is_folder && looked == 0 && !S_ISREG(status.st_mode)) return kNotRegular;
  if (code == 0) file = std::move(opened);
  return code;
}

Result<File> File::open(const std::filesystem::path& path, int flags) {
  File file;
  if (const int code = open_errno(path, flags, file); code != 0) {
    return fail(system_error(code, doing_to("opening", path)));
  }
  return file;
}

Result<uint64_t> File::size() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return fail(error(errno, "examining"));
  return static_cast<uint64_t>(status.st_size);
}

Result<uint64_t> File::inode() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return fail(error(errno, "examining"));
  return static_cast<uint64_t>(status.st_ino);
}

Result<uint64_t> File::allocated_bytes() const {
  constexpr uint64_t kBlockBytes = 512;  // the unit of st_blocks (stat(2)) on every file system
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return fail(error(errno, "examining"));
  return static_cast<uint64_t>(status.st_blocks) * kBlockBytes;
}

bool File::has_holes() const {
  struct stat status {};
  const off_t hole = ::lseek(fd_, 0, SEEK_HOLE);  // the file's end if the file has no hole
  return hole >= 0 && ::fstat(fd_, &status) == 0 && hole < status.st_size;
}

bool File::is_in_place(const File& folder) const {
  struct stat here {};
  struct stat there {};
  if (::fstat(fd_, &here) != 0) return true;
  if (::fstatat(folder.fd(), path_.filename().c_str(), &there, 0) != 0) return errno != ENOENT;
  return here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

Result<std::vector<uint8_t>> File::read(uint64_t offset, size_t size) const {
  std::vector<uint8_t> bytes(size);
  size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(fd_, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(error(errno, "reading"));
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

Status File::write(uint64_t offset, std::span<const uint8_t> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(error(errno, "writing"));
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return {};
}

Status File::resize(uint64_t size) const {
  int code;
  do {
    code = ::ftruncate(fd_, static_cast<off_t>(size));
  } while (code != 0 && errno == EINTR);
  if (code != 0) return fail(error(errno, "resizing"));
  return {};
}

Result<bool> File::punch(uint64_t offset, uint64_t bytes) const {
  constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  int code;
  do {
    code = ::fallocate(fd_, kPunch, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (code != 0 && errno == EINTR);
  if (code != 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) return false;
  if (code != 0) return fail(error(errno, "freeing space in"));
  return true;
}

Status File::sync_data() const {
  // The call is never repeated, not even after EINTR, because a second call may report success
  // although pages are lost.
  if (::fdatasync(fd_) != 0) return fail(error(errno, "syncing"));
  return {};
}

void outlive_file_size_limit() {
  struct sigaction action {};
  if (::sigaction(SIGXFSZ, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = SIG_IGN;
  (void)::sigaction(SIGXFSZ, &action, nullptr);
}

Result<struct statvfs> file_system_of(const std::filesystem::path& path) {
  struct statvfs result {};
  if (::statvfs(path.c_str(), &result) != 0) {
    return fail(system_error(errno, "examining the file system of " + path.string()));
  }
  return result;
}

uint64_t free_bytes(const struct statvfs& file_system) {
  if (::geteuid() != 0) return file_system.f_bavail * file_system.f_frsize;
  // The superuser may use the reserved blocks, except those that ext4 reserves for itself: a
  // fiftieth of all blocks, at most 4096 (ext4_calculate_resv_clusters in Linux's fs/ext4/super.c).
  // statvfs() counts these blocks as free too. The code subtracts slightly more than a fiftieth,
  // because statvfs() reports fewer blocks than the file system has.
  constexpr uint64_t kOwnPart = 48;
  constexpr uint64_t kOwnMax = 4096;
  const uint64_t kept_back =
      file_system.f_bfree - std::min(file_system.f_bfree, file_system.f_bavail);
  const uint64_t unusable = std::min({kept_back, file_system.f_blocks / kOwnPart, kOwnMax});
  return (file_system.f_bfree - unusable) * file_system.f_frsize;
}

Status rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return fail(system_error(errno, doing_to("renaming", from)));
  }
  return {};
}

Status remove_file(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return fail(system_error(errno, doing_to("removing", path)));
  }
  return {};
}

Status sync_folder(const std::filesystem::path& folder) {
  GM_ASSIGN(const File file, File::open(folder, O_RDONLY | O_DIRECTORY));
  if (::fsync(file.fd()) != 0) return fail(system_error(errno, doing_to("syncing", folder)));
  return {};
}

}  // namespace gridmount::system
