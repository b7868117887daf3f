#include "tools/gridfiles/local_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "engine/bson/value.h"
#include "tools/gridfiles/interruption.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

constexpr size_t kReadBytes = 1024 * 1024;

auto system_failure(std::string_view operation, std::string_view name, int error_number) {
  ErrorCode code = error_number == ENOSPC ? ErrorCode::kOutOfDiskSpace : ErrorCode::kIoError;
  return fail(code, system_error_text(operation, name, error_number));
}

auto cannot_open(const std::string& name, int error_number) {
  std::string text = "opening local file " + in_quotes(name) + ": " +
                     system_error_text("open", name, error_number);
  if (error_number == EEXIST) text += " (to allow this, set --overwriteLocal)";
  return fail(ErrorCode::kIoError, std::move(text));
}

// "folder/.name.<random>": beside the target, hidden, never longer than a name may be.
std::string temporary_name(const std::string& target) {
  size_t slash = target.rfind('/');
  size_t name_begin = slash == std::string::npos ? 0 : slash + 1;
  constexpr size_t kNameBytesKept = 200;
  return target.substr(0, name_begin) + "." + target.substr(name_begin, kNameBytesKept) + "." +
         bson::ObjectId::generate().hex();
}

// What a symbolic link leads to, whether that exists or not.
Result<std::string> behind_links(const std::string& name) {
  constexpr int kLinksMax = 40;  // as the kernel has it
  std::filesystem::path path = name;
  for (int i = 0; i < kLinksMax; ++i) {
    std::error_code problem;
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, problem))) {
      return path.string();
    }
    std::filesystem::path next = std::filesystem::read_symlink(path, problem);
    if (problem) return cannot_open(name, problem.value());
    path = path.parent_path() / next;  // an absolute `next` replaces it
  }
  return cannot_open(name, ELOOP);
}

}  // namespace

LocalInput::LocalInput(std::string name, int fd, bool owned)
    : name_(std::move(name)), fd_(fd), owned_(owned), buffer_(kReadBytes) {}

LocalInput::LocalInput(LocalInput&& other) noexcept
    : name_(std::move(other.name_)),
      fd_(other.fd_),
      owned_(std::exchange(other.owned_, false)),
      buffer_(std::move(other.buffer_)) {}

LocalInput::~LocalInput() {
  if (owned_) ::close(fd_);
}

Result<LocalInput> LocalInput::open(const std::string& name) {
  if (name == "-") return LocalInput(name, STDIN_FILENO, false);
  int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail(ErrorCode::kIoError, "error while opening local gridFile " + in_quotes(name) +
                                         ": " + system_error_text("open", name, errno));
  }
  return LocalInput(name, fd, true);
}

Result<std::span<const uint8_t>> LocalInput::read() {
  for (;;) {
    GM_TRY(Interruption::check());
    ssize_t count = ::read(fd_, buffer_.data(), buffer_.size());
    if (count >= 0) return std::span<const uint8_t>(buffer_.data(), static_cast<size_t>(count));
    if (errno != EINTR) return system_failure("read", name_ == "-" ? "/dev/stdin" : name_, errno);
  }
}

LocalOutput::LocalOutput(std::string name, int fd, bool owned)
    : name_(std::move(name)), fd_(fd), owned_(owned) {}

LocalOutput::LocalOutput(LocalOutput&& other) noexcept
    : name_(std::move(other.name_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(other.fd_),
      owned_(std::exchange(other.owned_, false)),
      overwrite_(other.overwrite_) {}

LocalOutput::~LocalOutput() {
  if (owned_) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<LocalOutput> LocalOutput::create(const std::string& name, bool overwrite) {
  if (name == "-") return LocalOutput(name, STDOUT_FILENO, false);

  struct stat existing {};
  bool exists = ::lstat(name.c_str(), &existing) == 0;
  if (exists && !overwrite) return cannot_open(name, EEXIST);
  std::string target = name;
  if (exists && S_ISLNK(existing.st_mode)) {
    GM_ASSIGN(target, behind_links(name));
    exists = ::lstat(target.c_str(), &existing) == 0;
  }
  if (exists && !S_ISREG(existing.st_mode)) {
    int fd = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return cannot_open(name, errno);
    return LocalOutput(name, fd, true);
  }
  // Replacing takes no permission on the file replaced, so it is asked for here.
  if (exists && ::access(target.c_str(), W_OK) != 0) return cannot_open(name, errno);

  std::string temporary = temporary_name(target);
  int fd = ::open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) return cannot_open(name, errno);
  LocalOutput output(name, fd, true);
  output.target_ = std::move(target);
  output.temporary_ = std::move(temporary);
  output.overwrite_ = overwrite;
  if (exists && ::fchmod(fd, existing.st_mode & 07777) != 0) return cannot_open(name, errno);
  return output;
}

Status LocalOutput::write(std::span<const uint8_t> data) {
  while (!data.empty()) {
    GM_TRY(Interruption::check());
    ssize_t count = ::write(fd_, data.data(), data.size());
    if (count >= 0) {
      data = data.subspan(static_cast<size_t>(count));
    } else if (errno != EINTR) {
      return system_failure("write", name_ == "-" ? "/dev/stdout" : name_, errno);
    }
  }
  return {};
}

Status LocalOutput::commit() {
  if (owned_) {
    owned_ = false;
    // The errors of network file systems may come this late.
    if (::close(fd_) != 0) return system_failure("close", name_, errno);
  }
  if (temporary_.empty()) return {};
  GM_TRY(take_name());
  temporary_.clear();
  return {};
}

Status LocalOutput::take_name() {
  const char* from = temporary_.c_str();
  const char* to = target_.c_str();
  if (!overwrite_) {
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return {};
    if (errno != EINVAL && errno != ENOSYS) return cannot_open(name_, errno);
    // The file system cannot refuse to replace: take the name first.
    int fd = ::open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0) return cannot_open(name_, errno);
    ::close(fd);
  }
  if (::rename(from, to) != 0) return cannot_open(name_, errno);
  return {};
}

}  // namespace gridmount::tools
