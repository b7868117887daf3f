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

// Returns "folder/.name.<random>": a hidden file beside the target, whose name is never too long.
std::string temporary_name(const std::string& target) {
  size_t slash = target.rfind('/');
  size_t name_begin = slash == std::string::npos ? 0 : slash + 1;
  constexpr size_t kNameBytesKept = 200;
  return target.substr(0, name_begin) + "." + target.substr(name_begin, kNameBytesKept) + "." +
         bson::ObjectId::generate().hex();
}

// Returns the path that a symbolic link leads to, whether or not it exists.
Result<std::string> behind_links(const std::string& name) {
  constexpr int kLinksMax = 40;  // the kernel's limit
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

// Opens the folder that contains `name`. Fails if a part before the last one is not a folder, for
// example a symbolic link. Ignores the last part.
Result<int> folder_without_links(const std::string& name) {
  int folder = ::open(name.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  size_t begin = 0;
  for (size_t slash; folder >= 0 && (slash = name.find('/', begin)) != std::string::npos;) {
    const std::string part = name.substr(begin, slash - begin);
    begin = slash + 1;
    if (part.empty()) continue;
    const int next = ::openat(folder, part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int error_number = errno;
    ::close(folder);
    errno = error_number;
    folder = next;
  }
  if (folder < 0) return cannot_open(name, errno);
  return folder;
}

auto behind_a_link(const std::string& name) {
  return fail(ErrorCode::kIllegalOperation,
              "the path " + in_quotes(name) +
                  " contains a symbolic link; set --allowUnsafeTraversal if you really "
                  "want to write to its target");
}

// Returns whether one of the folders in a name is a symbolic link.
bool leads_through_link(const std::string& name) {
  for (size_t slash = name.find('/', 1); slash != std::string::npos;
       slash = name.find('/', slash + 1)) {
    struct stat part {};
    if (::lstat(name.substr(0, slash).c_str(), &part) == 0 && S_ISLNK(part.st_mode)) return true;
  }
  return false;
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
      folder_(std::exchange(other.folder_, -1)),
      owned_(std::exchange(other.owned_, false)),
      overwrite_(other.overwrite_) {}

LocalOutput::~LocalOutput() {
  if (owned_) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (folder_ >= 0) ::close(folder_);
}

Result<LocalOutput> LocalOutput::create(const std::string& name, LocalName kind, bool overwrite) {
  if (kind == LocalName::kOfOption && name == "-") return LocalOutput(name, STDOUT_FILENO, false);
  if (kind != LocalName::kOfBucket) return create_at(name, name, overwrite, true);
  if (leads_through_link(name)) return behind_a_link(name);
  // The folder stays open, so a link that replaces it meanwhile is not followed.
  GM_ASSIGN(const int folder, folder_without_links(name));
  const size_t slash = name.rfind('/');
  const std::string last = slash == std::string::npos ? name : name.substr(slash + 1);
  auto output =
      create_at(name, "/proc/self/fd/" + std::to_string(folder) + "/" + last, overwrite, false);
  if (!output) {
    ::close(folder);
    return output;
  }
  output->folder_ = folder;
  return output;
}

Result<LocalOutput> LocalOutput::create_at(const std::string& name, std::string target,
                                           bool overwrite, bool follows_links) {
  struct stat existing {};
  bool exists = ::lstat(target.c_str(), &existing) == 0;
  if (exists && !overwrite) return cannot_open(name, EEXIST);
  if (exists && S_ISLNK(existing.st_mode)) {
    if (!follows_links) return behind_a_link(name);
    GM_ASSIGN(target, behind_links(target));
    exists = ::lstat(target.c_str(), &existing) == 0;
  }
  if (exists && !S_ISREG(existing.st_mode)) {
    int fd = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | (follows_links ? 0 : O_NOFOLLOW));
    if (fd < 0) return cannot_open(name, errno);
    return LocalOutput(name, fd, true);
  }
  // Replacing a file needs no permission to write to it, so that permission is checked here.
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
      return system_failure("write", owned_ ? name_ : "/dev/stdout", errno);
    }
  }
  return {};
}

Status LocalOutput::commit() {
  if (owned_) {
    owned_ = false;
    // Network file systems may report errors as late as this.
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
    // This file system cannot rename without replacing. So create the file under that name first.
    int fd = ::open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0) return cannot_open(name_, errno);
    ::close(fd);
  }
  if (::rename(from, to) != 0) return cannot_open(name_, errno);
  return {};
}

}  // namespace gridmount::tools
