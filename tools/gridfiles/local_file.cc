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

// Opens the folder that contains `name`, which is relative to `base`. Returns -1 and sets errno if
// a part of the name before the last one is not a folder, for example a symbolic link. Ignores the
// last part. With `makes_folders`, makes those that are missing.
int folder_without_links(const std::string& base, const std::string& name, bool makes_folders) {
  int folder = ::open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  size_t begin = 0;
  for (size_t slash; folder >= 0 && (slash = name.find('/', begin)) != std::string::npos;) {
    const std::string part = name.substr(begin, slash - begin);
    begin = slash + 1;
    if (part.empty()) continue;
    // An error is ignored, because openat() fails if there is no folder afterwards.
    if (makes_folders) ::mkdirat(folder, part.c_str(), 0777);
    const int next = ::openat(folder, part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int error_number = errno;
    ::close(folder);
    errno = error_number;
    folder = next;
  }
  return folder;
}

std::string last_part(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

auto behind_a_link(const std::string& name) {
  return fail(ErrorCode::kIllegalOperation,
              "the path " + in_quotes(name) +
                  " contains a symbolic link; set --allowUnsafeTraversal if you really "
                  "want to write to its target");
}

auto is_a_link(const std::string& path) {
  return fail(ErrorCode::kIllegalOperation,
              "the path " + in_quotes(path) +
                  " is or contains a symbolic link, which is not followed; remove the link");
}

auto is_a_device(const std::string& path) {
  return fail(ErrorCode::kIllegalOperation,
              "the path " + in_quotes(path) + " is a device or a pipe; remove it first");
}

// Returns true if a folder in the name is a symbolic link. Looks only at the folders that end at
// the position `begin` or behind it.
bool leads_through_link(const std::string& name, size_t begin = 1) {
  for (size_t slash = name.find('/', begin); slash != std::string::npos;
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
    std::error_code ignored;  // create() reports the error
    const std::filesystem::path folder = std::filesystem::path(name).parent_path();
    if (makes_folders) std::filesystem::create_directories(folder, ignored);
    return AtomicFile::create(name, std::move(options));
  }
  if (leads_through_link(name)) return behind_a_link(name);
  // The folder stays open, so a link that replaces it meanwhile is not followed.
  const int folder = folder_without_links(name.starts_with('/') ? "/" : ".", name, makes_folders);
  if (folder < 0) return cannot_open(name, errno);
  return AtomicFile::create_in(folder, last_part(name), std::move(options));
}

Result<AtomicFile> create_file_below(const std::string& folder, const std::string& name,
                                     const timespec& mtime) {
  const std::string path = folder + "/" + name;
  AtomicFileOptions options;
  options.mtime = mtime;
  options.regular_only = true;
  options.check_interrupt = Interruption::check;
  options.error = [path](AtomicFileStep step, int error_number) -> Error {
    if (step == AtomicFileStep::kOpen && error_number == ELOOP) return is_a_link(path).value();
    if (step == AtomicFileStep::kOpen && error_number == EEXIST) return is_a_device(path).value();
    return failed_step(path, true, step, error_number);
  };
  const int parent = folder_without_links(folder, name, true);
  if (parent < 0) {
    if (leads_through_link(path, folder.size() + 1)) return is_a_link(path);
    return cannot_open(path, errno);
  }
  return AtomicFile::create_in(parent, last_part(name), std::move(options));
}

Status remove_file_below(const std::string& folder, const std::string& name) {
  const int parent = folder_without_links(folder, name, false);
  const int removed = parent < 0 ? -1 : ::unlinkat(parent, last_part(name).c_str(), 0);
  const int error_number = errno;
  if (parent >= 0) ::close(parent);
  if (removed != 0 && error_number != ENOENT) {
    return system_failure("remove", folder + "/" + name, error_number);
  }
  std::string emptied = name;
  for (size_t slash; (slash = emptied.rfind('/')) != std::string::npos;) {
    emptied.resize(slash);
    if (::rmdir((folder + "/" + emptied).c_str()) != 0) break;
  }
  return {};
}

Status write_all(gridfs::DownloadStream& stream, AtomicFile& output, Progress& progress) {
  constexpr size_t kBlockBytes = 1024 * 1024;
  for (;;) {
    GM_ASSIGN(const auto data, stream.read(kBlockBytes));
    if (data.empty()) return {};
    GM_TRY(output.write(data));
    progress.add(data.size());
  }
}

}  // namespace gridmount::tools
