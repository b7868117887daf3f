#include "tests/fuse/crash/user.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <new>
#include <stdexcept>
#include <thread>

#include "tests/engine/local/crash/write_recorder.h"
#include "tests/fuse/crash/model.h"

namespace gridmount::fuse::testing {
namespace {

constexpr const char* kUserXattr = "user.crash";
constexpr int64_t kYear2001 = 978'307'200;
constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr size_t kCallsReported = 40;

class User {
 public:
  User(size_t number, const UsersOptions& options, CrashClock& clock)
      : folder_(options.mount_point / folder_of_user(number)),
        number_(number),
        options_(options),
        clock_(clock) {}

  // Runs the calls from `first` on. If one fails, returns false and reports why.
  bool run(const Program& program, size_t first, size_t end);

 private:
  struct Mapping {
    char* begin = nullptr;
    size_t size = 0;
  };

  std::string at(const std::string& path) const {
    return path.empty() ? folder_ : folder_ + "/" + path;
  }
  int& fd(const Call& call) { return fds_[static_cast<size_t>(call.slot)]; }
  Mapping& mapping(const Call& call) { return mappings_[static_cast<size_t>(call.map)]; }
  // Returns like the C library: -1 and errno on failure.
  int64_t make(const Call& call);
  int64_t open(const Call& call, int flags);
  int64_t write(const Call& call);
  int64_t map(const Call& call);
  int64_t set_time(const Call& call);
  int64_t sync_folder(const Call& call);
  void record_time(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) == 0) {
      modified_ns_ = status.st_mtim.tv_sec * kNanosecondsPerSecond + status.st_mtim.tv_nsec;
    }
  }

  const std::string folder_;
  const size_t number_;
  const UsersOptions& options_;
  CrashClock& clock_;
  std::array<int, kSlots> fds_{};
  std::array<Mapping, kMaps> mappings_{};
  int64_t modified_ns_ = 0;
};

int64_t User::open(const Call& call, int flags) {
  fd(call) = ::open(at(call.path).c_str(), flags | call.flags | O_RDWR | O_CLOEXEC, call.mode);
  return fd(call);
}

int64_t User::write(const Call& call) {
  const ssize_t written =
      ::pwrite(fd(call), call.bytes.data(), call.bytes.size(), static_cast<off_t>(call.offset));
  record_time(fd(call));
  if (written >= 0 && static_cast<size_t>(written) != call.bytes.size()) errno = ENODATA;
  return static_cast<size_t>(written) == call.bytes.size() ? 0 : -1;
}

int64_t User::map(const Call& call) {
  void* const begin = ::mmap(nullptr, call.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd(call), 0);
  if (begin == MAP_FAILED) return -1;
  mapping(call) = {static_cast<char*>(begin), call.size};
  return 0;
}

int64_t User::set_time(const Call& call) {
  const timespec modified{kYear2001 + static_cast<int64_t>(call.offset % 1'000'000),
                          static_cast<int64_t>(call.offset)};
  modified_ns_ = modified.tv_sec * kNanosecondsPerSecond + modified.tv_nsec;
  const timespec times[2] = {{0, UTIME_OMIT}, modified};
  return ::utimensat(AT_FDCWD, at(call.path).c_str(), times, 0);
}

int64_t User::sync_folder(const Call& call) {
  const int folder = ::open(at(call.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return -1;
  const int64_t result = ::syscall(SYS_fsync, folder);
  ::close(folder);
  return result;
}

// The recorder replaces fsync() and similar functions of this program. So this function makes those
// system calls directly.
int64_t User::make(const Call& call) {
  const auto offset = static_cast<off_t>(call.offset);
  const auto size = static_cast<off_t>(call.size);
  const std::string path = at(call.path);
  switch (call.kind) {
    case CallKind::kMakeFolder:
      return ::mkdir(path.c_str(), call.mode);
    case CallKind::kRemoveFolder:
      return ::rmdir(path.c_str());
    case CallKind::kUnlink:
      return ::unlink(path.c_str());
    case CallKind::kRename:
      return ::rename(path.c_str(), at(call.target).c_str());
    case CallKind::kExchange:
      return ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, at(call.target).c_str(),
                         RENAME_EXCHANGE);
    case CallKind::kLink:
      return ::link(path.c_str(), at(call.target).c_str());
    case CallKind::kMakeSymlink:
      return ::symlink(call.target.c_str(), path.c_str());
    case CallKind::kChangeMode:
      return ::chmod(path.c_str(), call.mode);
    case CallKind::kSetXattr:
      return ::setxattr(path.c_str(), kUserXattr, call.bytes.data(), call.bytes.size(), 0);
    case CallKind::kRemoveXattr:
      return ::removexattr(path.c_str(), kUserXattr);
    case CallKind::kSetTime:
      return set_time(call);
    case CallKind::kResizePath:
      return ::truncate(path.c_str(), size);
    case CallKind::kCreate:
      return open(call, O_CREAT | O_EXCL);
    case CallKind::kOpen:
      return open(call, 0);
    case CallKind::kClose:
      record_time(fd(call));
      return ::close(fd(call));
    case CallKind::kWrite:
      return write(call);
    case CallKind::kResize:
      return ::ftruncate(fd(call), size);
    case CallKind::kPunch:
      return ::fallocate(fd(call), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size);
    case CallKind::kZero:
      return ::fallocate(fd(call), FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, offset, size);
    case CallKind::kAllocate:
      return ::fallocate(fd(call), 0, 0, size);
    case CallKind::kSync:
    case CallKind::kSyncData: {
      const int64_t result =
          ::syscall(call.kind == CallKind::kSync ? SYS_fsync : SYS_fdatasync, fd(call));
      record_time(fd(call));
      return result;
    }
    case CallKind::kSyncRange:
      return ::sync_file_range(fd(call), offset, size, SYNC_FILE_RANGE_WRITE);
    case CallKind::kMap:
      return map(call);
    case CallKind::kStore:
      std::memcpy(mapping(call).begin + call.offset, call.bytes.data(), call.bytes.size());
      return 0;
    case CallKind::kSyncMap:
      return ::msync(mapping(call).begin + call.offset, call.size, MS_SYNC);
    case CallKind::kUnmap:
      return ::munmap(mapping(call).begin, mapping(call).size);
    case CallKind::kSyncFolder:
      return sync_folder(call);
    case CallKind::kSyncFileSystem: {
      const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      const int result = ::syncfs(folder);
      ::close(folder);
      return result;
    }
    case CallKind::kPause:
      std::this_thread::sleep_for(std::chrono::microseconds(call.size));
      return 0;
  }
  return -1;
}

bool User::run(const Program& program, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) {
    CallTimes& times = clock_.call(number_, i);
    modified_ns_ = 0;
    times.begun = clock_.tick();
    const bool left_out = options_.left_out.contains(program.calls[i].kind);
    const int64_t result = left_out ? 0 : make(program.calls[i]);
    const int error_number = errno;
    times.modified_ns = modified_ns_;
    times.returned = clock_.tick();
    if (result >= 0) continue;
    std::string text = "call " + std::to_string(i) + " of user " + std::to_string(number_) + ", " +
                       text_of(program.calls[i]) + ": " + std::strerror(error_number) + "; before:";
    for (size_t before = i - std::min(i, kCallsReported); before < i; ++before) {
      text += "\n    " + std::to_string(before) + " " + text_of(program.calls[before]);
    }
    std::cerr << text << std::endl;
    return false;
  }
  return true;
}

bool unmount(const std::filesystem::path& mount_point) {
  constexpr int kAttempts = 1000;  // another program of the system may be looking into a new mount
  for (int i = 0; i < kAttempts; ++i) {
    // A user without the permission leaves the unmount to the process that serves the mount.
    if (::umount2(mount_point.c_str(), 0) == 0 || errno == EPERM) return true;
    if (errno != EBUSY) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace

std::string folder_of_user(size_t user) {
  return "user" + std::to_string(user);
}

CrashClock::CrashClock() {
  void* const shared =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  shared_ = ::new (shared) Shared;
}

CrashClock::~CrashClock() {
  ::munmap(shared_, sizeof(Shared));
}

pid_t start_users(const std::vector<Program>& programs, size_t session, const UsersOptions& options,
                  int start, CrashClock& clock) {
  const pid_t serves = ::getpid();
  const pid_t users = ::fork();
  if (users != 0) return users;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != serves) ::_exit(1);
  local::testing::WriteRecorder::instance().stop();
  ::umask(0);
  char byte = 0;
  if (::read(start, &byte, 1) != 1) ::_exit(1);
  std::atomic<bool> good = true;
  {
    std::vector<std::jthread> threads;
    for (size_t user = 0; user < programs.size(); ++user) {
      threads.emplace_back([&, user] {
        const Program& program = programs[user];
        const size_t first = session == 0 ? 0 : program.session_ends[session - 1];
        User each(user, options, clock);
        if (!each.run(program, first, program.session_ends[session])) good = false;
      });
    }
  }
  if (good && options.unmounts && !unmount(options.mount_point)) {
    std::cerr << "unmounting: " << std::strerror(errno) << std::endl;
    good = false;
  }
  ::_exit(good ? 0 : 1);
}

}  // namespace gridmount::fuse::testing
