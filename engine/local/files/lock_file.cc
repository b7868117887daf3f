#include "engine/local/files/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <vector>

#include "engine/system/system_error.h"

namespace gridmount::local {
namespace {

constexpr std::string_view kFirstLine = "gridmount owner 1";
constexpr size_t kHostBytesMax = 255;

std::string_view state_name(OwnerState state) {
  switch (state) {
    case OwnerState::kOpen:
      return "open";
    case OwnerState::kClosed:
      return "closed";
    case OwnerState::kFailed:
      return "failed";
  }
  return "failed";
}

std::optional<OwnerState> state_named(std::string_view name) {
  for (const auto state : {OwnerState::kOpen, OwnerState::kClosed, OwnerState::kFailed}) {
    if (name == state_name(state)) return state;
  }
  return std::nullopt;
}

template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Returns the process that holds a lock on the file, according to the kernel. The mark does not
// name readers.
std::optional<std::string> lock_holder(const system::File& file) {
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) return std::nullopt;
  // The device is part of the identity, because inode numbers are unique only within a file system.
  std::array<char, 64> identity{};
  (void)std::snprintf(identity.data(), identity.size(), "%02x:%02x:%llu", major(status.st_dev),
                      minor(status.st_dev), static_cast<unsigned long long>(status.st_ino));
  std::ifstream locks("/proc/locks");
  std::string line;
  while (std::getline(locks, line)) {
    // "12: FLOCK  ADVISORY  READ  1234 fe:01:567890 0 EOF"; waiters have "->" before the kind.
    std::istringstream words(line);
    std::string number, kind, advice, access, pid, locked;
    words >> number >> kind >> advice >> access >> pid >> locked;
    if (kind == "FLOCK" && locked == identity.data() && pid != "0" && !pid.starts_with('-')) {
      return pid;
    }
  }
  return std::nullopt;
}

constexpr const char* kStopIt = "; stop that process first (a mount ends with fusermount3 -u)";

Error locked_error(const system::File& file, const std::filesystem::path& folder,
                   const Result<std::optional<OwnerMark>>& mark) {
  std::string holder = "another process";
  const std::optional<std::string> pid = lock_holder(file);
  if (pid) {
    holder = "process " + *pid;
  } else if (mark && *mark && (*mark)->state == OwnerState::kOpen) {
    holder = "process " + std::to_string((*mark)->pid) + " on " + (*mark)->host;
  }
  return Error(ErrorCode::kStoreLocked,
               "store " + folder.string() + " is in use by " + holder + kStopIt);
}

}  // namespace

std::string format_owner_mark(const OwnerMark& mark) {
  std::ostringstream text;
  text << kFirstLine << '\n'
       << "state " << state_name(mark.state) << '\n'
       << "pid " << mark.pid << '\n'
       << "host " << mark.host.substr(0, kHostBytesMax) << '\n'
       << "boot " << mark.boot_id << '\n'
       << "inode " << mark.data_inode << '\n'
       << "end\n";
  std::string bytes = std::move(text).str();
  // The mark always fills one sector, because most disks write a sector whole or not at all.
  bytes.resize(kOwnerBytes, '\n');
  return bytes;
}

std::optional<OwnerMark> parse_owner_mark(std::string_view text) {
  if (text.size() != kOwnerBytes) return std::nullopt;
  std::istringstream lines{std::string(text)};
  std::string line;
  if (!std::getline(lines, line) || line != kFirstLine) return std::nullopt;
  std::map<std::string, std::string> fields;
  while (std::getline(lines, line) && line != "end") {
    const size_t space = line.find(' ');
    if (space == std::string::npos) return std::nullopt;
    fields[line.substr(0, space)] = line.substr(space + 1);
  }
  if (line != "end") return std::nullopt;
  OwnerMark mark;
  const std::optional<OwnerState> state = state_named(fields["state"]);
  if (!state || !parse_number(fields["pid"], mark.pid) ||
      !parse_number(fields["inode"], mark.data_inode)) {
    return std::nullopt;
  }
  mark.state = *state;
  mark.host = fields["host"];
  mark.boot_id = fields["boot"];
  return mark;
}

Result<LockFile> LockFile::lock(const std::filesystem::path& folder, bool read_only, bool create) {
  const std::filesystem::path path = folder / "owner";
  system::File file;
  const int code = system::File::open_errno(
      path, (read_only ? O_RDONLY : O_RDWR) | (create ? O_CREAT : 0), file);
  if (code == EROFS || (code == EACCES && !read_only)) {
    // If the file can be read, only the opening for writing fails.
    if (system::File readable; system::File::open_errno(path, O_RDONLY, readable) == 0) {
      return fail(ErrorCode::kStoreReadOnly,
                  "store " + folder.string() + " cannot be written: " +
                      (code == EROFS ? "its file system is mounted read-only"
                                     : "there is no permission to write its files") +
                      "; it can only be opened read-only");
    }
  }
  if (code == ENOENT && !create) {
    return fail(ErrorCode::kStoreDamaged,
                "store " + folder.string() +
                    ": its file owner is missing; opening it for writing creates it again (mount "
                    "it without -o ro, or run 'gridstore check --repair')");
  }
  if (code != 0) return fail(system::system_error(code, "opening " + path.string()));
  LockFile owner(std::move(file));
  if (::flock(owner.file_.fd(), (read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return fail(locked_error(owner.file_, folder, owner.read()));
    return fail(system::system_error(errno, "locking " + path.string()));
  }
  return owner;
}

Result<LockFile> LockFile::look(const std::filesystem::path& folder) {
  GM_ASSIGN(system::File file, system::File::open(folder / "owner", O_RDONLY));
  return LockFile(std::move(file));
}

Result<std::optional<OwnerMark>> LockFile::read() const {
  GM_ASSIGN(const std::vector<uint8_t> bytes, file_.read(0, kOwnerBytes));
  return parse_owner_mark({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Status LockFile::write(const OwnerMark& mark) const {
  const std::string bytes = format_owner_mark(mark);
  GM_TRY(file_.write(0, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
  return file_.sync_data();
}

Status lock_data(const system::File& data, const std::filesystem::path& folder, bool read_only) {
  if (::flock(data.fd(), (read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) {
    return fail(system::system_error(errno, "locking " + data.path().string()));
  }
  const std::optional<std::string> pid = lock_holder(data);
  return fail(ErrorCode::kStoreLocked,
              "store " + folder.string() +
                  " is in use: " + (pid ? "process " + *pid : std::string("another process")) +
                  " has its file data.mdb open; its file owner was removed or replaced meanwhile" +
                  kStopIt);
}

std::string running_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

Status mark_closed(const LockFile& owner, const system::File& data) {
  GM_ASSIGN(const std::optional<OwnerMark> before, owner.read());
  OwnerMark mark = before.value_or(OwnerMark());
  mark.state = OwnerState::kClosed;
  mark.pid = ::getpid();
  GM_ASSIGN(mark.data_inode, data.inode());
  return owner.write(mark);
}

}  // namespace gridmount::local
