#include "tools/gridfiles/local_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

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

// Opens the folder that contains `name`. Fails if a part before the last one is not a folder, for
// example a symbolic link. Ignores the last part. With `makes_folders`, makes those that are
// missing.
Result<int> folder_without_links(const std::string& name, bool makes_folders) {
  int folder = ::open(name.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  size_t begin = 0;
  for (size_t slash; folder >= 0 && (slash = name.find('/', begin)) != std::string::npos;) {
    const std::string part = name.substr(begin, slash - begin);
    begin = slash + 1;
    if (part.empty()) continue;
    // If this fails, so does openat().
    if (makes_folders) ::mkdirat(folder, part.c_str(), 0777);
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

Error failed_step(const std::string& name, bool follows_links, AtomicFileStep step,
                  int error_number) {
  switch (step) {
    case AtomicFileStep::kWrite:
      return system_failure("write", name, error_number).value();
    case AtomicFileStep::kClose:
      return system_failure("close", name, error_number).value();
    default:
      if (error_number == ELOOP && !follows_links) return behind_a_link(name).value();
      return cannot_open(name, error_number).value();
  }
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

Result<AtomicFile> create_local_file(const std::string& name, LocalName kind, bool overwrite,
                                     bool makes_folders) {
  AtomicFileOptions options;
  options.overwrite = overwrite;
  options.check_interrupt = Interruption::check;
  if (kind == LocalName::kOfOption && name == "-") {
    options.error = [](AtomicFileStep, int error_number) {
      return system_failure("write", "/dev/stdout", error_number).value();
    };
    return AtomicFile::to_stdout(std::move(options));
  }
  const bool follows_links = kind != LocalName::kOfBucket;
  options.error = [name, follows_links](AtomicFileStep step, int error_number) {
    return failed_step(name, follows_links, step, error_number);
  };
  if (follows_links) {
    std::error_code ignored;  // create() fails too
    const std::filesystem::path folder = std::filesystem::path(name).parent_path();
    if (makes_folders) std::filesystem::create_directories(folder, ignored);
    return AtomicFile::create(name, std::move(options));
  }
  if (leads_through_link(name)) return behind_a_link(name);
  // The folder stays open, so a link that replaces it meanwhile is not followed.
  GM_ASSIGN(const int folder, folder_without_links(name, makes_folders));
  const size_t slash = name.rfind('/');
  return AtomicFile::create_in(folder, slash == std::string::npos ? name : name.substr(slash + 1),
                               std::move(options));
}

Status write_all(gridfs::DownloadStream& stream, AtomicFile& output) {
  constexpr size_t kBlockBytes = 1024 * 1024;
  for (;;) {
    GM_ASSIGN(const auto data, stream.read(kBlockBytes));
    if (data.empty()) return {};
    GM_TRY(output.write(data));
  }
}

}  // namespace gridmount::tools
