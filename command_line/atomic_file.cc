#include "command_line/atomic_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "engine/bson/value.h"

namespace gridmount {

namespace {

constexpr mode_t kNewFileMode = 0666;  // reduced by the umask
constexpr mode_t kPrivateMode = 0600;

// Returns ".name.<random>": a hidden name that is never too long.
std::string temporary_name(const std::string& name) {
  constexpr size_t kNameBytesKept = 200;
  return "." + name.substr(0, kNameBytesKept) + "." + bson::ObjectId::generate().hex();
}

// If the last component of `path` is a symbolic link, sets `path` to the target of the link, even
// if there is no file. Returns an errno, or 0.
int follow_links(std::filesystem::path& path) {
  constexpr int kLinksMax = 40;  // the kernel's limit
  for (int i = 0; i < kLinksMax; ++i) {
    std::error_code problem;
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, problem))) return 0;
    const std::filesystem::path next = std::filesystem::read_symlink(path, problem);
    if (problem) return problem.value();
    path = path.parent_path() / next;  // an absolute `next` replaces it
  }
  return ELOOP;
}

// Returns the errno for a file that is not regular and must not be written.
int reason_against(mode_t mode) {
  if (S_ISLNK(mode)) return ELOOP;
  return S_ISDIR(mode) ? EISDIR : EEXIST;
}

}  // namespace

AtomicFile::AtomicFile(int folder, std::string name, AtomicFileOptions options)
    : options_(std::move(options)), folder_(folder), name_(std::move(name)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : options_(std::move(other.options_)),
      folder_(std::exchange(other.folder_, -1)),
      name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  if (folder_ < 0) return;
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
  ::close(folder_);
}

tl::unexpected<Error> AtomicFile::failure(AtomicFileStep step, int error_number) const {
  return fail(options_.error(step, error_number));
}

AtomicFile AtomicFile::to_stdout(AtomicFileOptions options) {
  AtomicFile file(-1, {}, std::move(options));
  file.fd_ = STDOUT_FILENO;
  return file;
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path,
                                      AtomicFileOptions options) {
  std::filesystem::path target = path;
  struct stat existing {};
  if (!options.overwrite && ::lstat(path.c_str(), &existing) == 0) {
    return fail(options.error(AtomicFileStep::kOpen, EEXIST));
  }
  if (const int error_number = follow_links(target); error_number != 0) {
    return fail(options.error(AtomicFileStep::kOpen, error_number));
  }
  const std::string parent = target.has_parent_path() ? target.parent_path().string() : ".";
  const int folder = ::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return fail(options.error(AtomicFileStep::kOpen, errno));
  // A path that ends in a slash names the folder itself, which the next call refuses.
  return create_in(folder, target.has_filename() ? target.filename().string() : ".",
                   std::move(options));
}

Result<AtomicFile> AtomicFile::create_in(int folder, std::string name, AtomicFileOptions options) {
  AtomicFile file(folder, std::move(name), std::move(options));
  GM_TRY(file.open());
  return file;
}

Status AtomicFile::open() {
  struct stat existing {};
  const bool exists = ::fstatat(folder_, name_.c_str(), &existing, AT_SYMLINK_NOFOLLOW) == 0;
  if (!exists) return open_temporary(kNewFileMode);
  if (!options_.overwrite) return failure(AtomicFileStep::kOpen, EEXIST);
  if (!S_ISREG(existing.st_mode)) {
    if (options_.regular_only) {
      return failure(AtomicFileStep::kOpen, reason_against(existing.st_mode));
    }
    fd_ = ::openat(folder_, name_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd_ >= 0 ? Status() : failure(AtomicFileStep::kOpen, errno);
  }
  // A rename replaces a file even without permission to write to the file, so the permission is
  // checked here.
  if (::faccessat(folder_, name_.c_str(), W_OK, 0) != 0) {
    return failure(AtomicFileStep::kOpen, errno);
  }
  // Nobody who cannot read the replaced file may read the new one.
  GM_TRY(open_temporary(kPrivateMode));
  if (::fchmod(fd_, existing.st_mode & 07777) != 0) return failure(AtomicFileStep::kOpen, errno);
  return {};
}

Status AtomicFile::open_temporary(mode_t mode) {
  std::string temporary = temporary_name(name_);
  constexpr int kFlags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
  fd_ = ::openat(folder_, temporary.c_str(), kFlags, mode);
  if (fd_ < 0) return failure(AtomicFileStep::kOpen, errno);
  temporary_ = std::move(temporary);
  return {};
}

Status AtomicFile::write(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    if (options_.check_interrupt) GM_TRY(options_.check_interrupt());
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(count));
    } else if (errno != EINTR) {
      return failure(AtomicFileStep::kWrite, errno);
    }
  }
  return {};
}

Status AtomicFile::commit() {
  if (folder_ < 0) return {};
  GM_TRY(sync_and_close());
  if (temporary_.empty()) return {};
  GM_TRY(take_name());
  temporary_.clear();
  return {};
}

Status AtomicFile::sync_and_close() {
  if (options_.mtime && !temporary_.empty()) {
    const std::array<timespec, 2> times = {timespec{0, UTIME_OMIT}, *options_.mtime};
    if (::futimens(fd_, times.data()) != 0) return failure(AtomicFileStep::kWrite, errno);
  }
  const bool is_synced = options_.sync && !temporary_.empty();
  if (is_synced && ::fsync(fd_) != 0) return failure(AtomicFileStep::kWrite, errno);
  // Network file systems may report errors of writes only here.
  if (::close(std::exchange(fd_, -1)) != 0) return failure(AtomicFileStep::kClose, errno);
  return {};
}

Status AtomicFile::take_name() {
  const char* from = temporary_.c_str();
  const char* to = name_.c_str();
  if (!options_.overwrite) {
    if (::renameat2(folder_, from, folder_, to, RENAME_NOREPLACE) == 0) return {};
    if (errno != EINVAL && errno != ENOSYS) return failure(AtomicFileStep::kRename, errno);
    // This file system does not support RENAME_NOREPLACE. So an empty file reserves the name first.
    constexpr int kFlags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
    const int fd = ::openat(folder_, to, kFlags, kNewFileMode);
    if (fd < 0) return failure(AtomicFileStep::kRename, errno);
    ::close(fd);
  }
  if (::renameat(folder_, from, folder_, to) == 0) return {};
  const int error_number = errno;
  if (!options_.overwrite) remove_reservation();
  return failure(AtomicFileStep::kRename, error_number);
}

void AtomicFile::remove_reservation() const {
  struct stat reserved {};
  // Another program may have written to the file.
  const bool is_empty = ::fstatat(folder_, name_.c_str(), &reserved, AT_SYMLINK_NOFOLLOW) == 0 &&
                        S_ISREG(reserved.st_mode) && reserved.st_size == 0;
  if (is_empty) ::unlinkat(folder_, name_.c_str(), 0);
}

}  // namespace gridmount
