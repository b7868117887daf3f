// Session on libfuse: mount, loop, stop.
#include <fcntl.h>
#include <fuse_log.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

#include "command_line/signals.h"
#include "engine/base/log.h"
#include "engine/base/thread_safety.h"
#include "fuse/kernel/fuse_frontend.h"
#include "fuse/kernel/mount_point.h"
#include "fuse/kernel/session.h"

namespace gridmount::fuse {

namespace {

using std::chrono::milliseconds;

// If this many threads write, they share one commit. More threads would only wait for the
// processors.
constexpr unsigned kMaxThreads = 16;
constexpr unsigned kMaxIdleThreads = 16;
constexpr unsigned kReadAheadKib = 1024;

// The timeouts of stop(): for the kernel to write back its dirty pages, for the silence after which
// none are assumed to be left, and for open files to be closed after the mount was detached.
constexpr milliseconds kWriteBackPatience{30'000};
constexpr milliseconds kQuiet{100};
constexpr milliseconds kOpenFilesPatience{2'000};

// FUSE_EXPIRE_ONLY of linux/fuse.h, since Linux 6.2. Earlier kernels do not look at the flags.
constexpr uint32_t kExpireOnly = 1;

// Collects what libfuse prints while it mounts, because libfuse's messages are the best explanation
// of a failure.
thread_local std::string* mount_messages = nullptr;

__attribute__((format(printf, 2, 0))) void take_libfuse_message(fuse_log_level level,
                                                                const char* format,
                                                                va_list arguments) {
  char text[1024];
  vsnprintf(text, sizeof text, format, arguments);
  std::string message(text);
  if (mount_messages != nullptr) {
    *mount_messages += message;
    return;
  }
  while (!message.empty() && message.back() == '\n') message.pop_back();
  if (level <= FUSE_LOG_ERR) {
    log::warn("libfuse: {}", message);
  } else {
    log::debug("libfuse: {}", message);
  }
}

// fusermount3 mounts for users who are not root, and prints errors on the stderr it inherits. While
// this object exists, stderr is a pipe. take() returns what was written to it.
class CapturedStderr {
 public:
  CapturedStderr() {
    int ends[2];
    saved_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (saved_ < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    read_end_ = ends[0];
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
  }
  ~CapturedStderr() { take(); }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  std::string take() {
    std::string text;
    if (saved_ >= 0) {
      dup2(saved_, STDERR_FILENO);
      close(saved_);
      saved_ = -1;
    }
    if (read_end_ >= 0) {
      char buffer[4096];
      for (ssize_t bytes; (bytes = read(read_end_, buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<size_t>(bytes));
      }
      close(read_end_);
      read_end_ = -1;
    }
    return text;
  }

 private:
  int saved_ = -1;
  int read_end_ = -1;
};

// Joins the lines that libfuse and fusermount3 have printed.
std::string join_lines(const std::string& text) {
  std::string joined;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) {
      if (!joined.empty()) joined += "; ";
      joined += text.substr(begin, end - begin);
    }
    begin = end + 1;
  }
  return joined;
}

// A large read is one request only if the kernel reads ahead that far. The kernel's default is 128
// KiB. Only root may raise the limit. Other users keep the default.
void raise_read_ahead(const std::string& mount_point) {
  const std::string device = mounted_device(mount_point);
  const std::string path = "/sys/class/bdi/" + device + "/read_ahead_kb";
  std::ofstream file(path);
  file << kReadAheadKib << std::flush;
  if (!file) log::debug("cannot raise the read-ahead in {}", path);
}

// Returns how many bytes the kernel is writing back at the moment, to this mount and all others. So
// the result is at least the number for this mount.
uint64_t write_back_bytes() {
  std::ifstream file("/proc/meminfo");
  uint64_t kibibytes = 0;
  for (std::string line; std::getline(file, line);) {
    // "Writeback:" and "WritebackTmp:". FUSE used the latter in earlier kernels.
    if (!line.starts_with("Writeback")) continue;
    kibibytes += std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
  }
  return kibibytes * 1024;
}

// Runs `body` in a child process that has none of our files open. So if this process is killed, the
// child neither keeps the connection alive nor the store locked. `body` may only make system calls.
// Returns the result of `body`. If the child has not ended after `patience`, kills it, does not
// wait for its end, and returns false.
template <typename Body>
bool run_in_child(milliseconds patience, Body body) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    close_range(STDERR_FILENO + 1, ~0U, 0);
    _exit(body() ? 0 : 1);
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      return false;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool detach_mount(const std::string& mount_point) {
  const char* place = mount_point.c_str();
  const char* arguments[] = {"fusermount3", "-u", "-q", "-z", "--", place, nullptr};
  return run_in_child(kWriteBackPatience, [&] {
    if (umount2(place, MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return true;
    if (errno == EPERM) execvp("fusermount3", const_cast<char* const*>(arguments));
    return false;
  });
}

struct SessionDeleter {
  void operator()(fuse_session* session) const { fuse_session_destroy(session); }
};
struct LoopConfigDeleter {
  void operator()(fuse_loop_config* config) const { fuse_loop_cfg_destroy(config); }
};

class LibfuseSession : public Session, private KernelCache {
 public:
  LibfuseSession(FileSystem& file_system, SessionOptions options)
      : options_(std::move(options)), context_(file_system) {
    context_.write_back = [this](uint64_t ino) { invalidate_inode(ino); };
    context_.process = [this](std::vector<char>& message) {
      fuse_buf request{};
      request.size = message.size();
      request.mem = message.data();
      fuse_session_process_buf(session_.get(), &request);
    };
    context_.invalidate_attributes = [this](uint64_t ino) {
      // A negative offset makes the kernel drop attributes but no content.
      (void)fuse_lowlevel_notify_inval_inode(session_.get(), ino, -1, 0);
    };
  }

  ~LibfuseSession() override {
    // After a detach, the mount point may belong to another mount, which must stay.
    if (mounted_ && !detached_) fuse_session_unmount(session_.get());
  }

  Status mount() {
    std::vector<std::string> mount_options{"default_permissions", "subtype=gridmount",
                                           "fsname=" + options_.source};
    mount_options.insert(mount_options.end(), options_.mount_options.begin(),
                         options_.mount_options.end());
    char* joined = nullptr;
    for (const std::string& option : mount_options) {
      if (fuse_opt_add_opt_escaped(&joined, option.c_str()) != 0) throw std::bad_alloc();
    }
    fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
    fuse_opt_add_arg(&arguments, "gridmount");
    fuse_opt_add_arg(&arguments, "-o");
    fuse_opt_add_arg(&arguments, joined);
    free(joined);

    std::string messages;
    mount_messages = &messages;
    CapturedStderr captured;
    fuse_set_log_func(take_libfuse_message);
    session_.reset(
        fuse_session_new(&arguments, &frontend_operations(), sizeof(fuse_lowlevel_ops), &context_));
    fuse_opt_free_args(&arguments);
    errno = 0;
    const bool done =
        session_ && fuse_session_mount(session_.get(), options_.mount_point.c_str()) == 0;
    const int error_number = errno;
    mount_messages = nullptr;
    messages = join_lines(messages + captured.take());
    if (!done) {
      const bool denied = error_number == EPERM || error_number == EACCES;
      if (messages.empty()) messages = strerror(error_number);
      return fail(denied ? ErrorCode::kPermissionDenied : ErrorCode::kOperationFailed,
                  "cannot mount at " + options_.mount_point.string() + ": " + messages);
    }
    mounted_ = true;
    raise_read_ahead(options_.mount_point.string());
    return {};
  }

  Status run(std::function<void()> on_ready) override {
    main_thread_ = pthread_self();
    // The signal only interrupts the loop's wait, so that the loop checks whether it must end.
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(wake_signal(), &action, nullptr);

    context_.on_ready = std::move(on_ready);
    sigset_t wake;
    sigemptyset(&wake);
    sigaddset(&wake, wake_signal());
    pthread_sigmask(SIG_UNBLOCK, &wake, nullptr);
    std::unique_ptr<fuse_loop_config, LoopConfigDeleter> config(fuse_loop_cfg_create());
    fuse_loop_cfg_set_max_threads(config.get(), kMaxThreads);
    fuse_loop_cfg_set_idle_threads(config.get(), kMaxIdleThreads);
    // A descriptor for each thread (clone_fd) made no difference, neither with one client nor with
    // four.
    fuse_loop_cfg_set_clone_fd(config.get(), 0);
    int result = prepare_session(session_.get());
    if (result == 0) result = negotiate(session_.get());
    if (result == 0) result = fuse_session_loop_mt(session_.get(), config.get());
    {
      MutexLock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    pthread_sigmask(SIG_BLOCK, &wake, nullptr);
    if (!detached_) {
      fuse_session_unmount(session_.get());
      mounted_ = false;
    }
    // The parked requests can end now. The end of the connection has answered everything for which
    // they wait, and all moves have ended with the loop.
    context_.parked_for_writes.stop();
    context_.parked_for_move.stop();
    if (result < 0) {
      return fail(ErrorCode::kIoError, "the mount at " + options_.mount_point.string() +
                                           " has ended with an error: " + strerror(-result));
    }
    return {};
  }

  void stop() override {
    if (wait_until_ended(milliseconds(0))) return;
    await_write_back();
    // If no file is open, the detach alone ends run(), after the kernel has released everything.
    detached_ = detach_mount(options_.mount_point.string());
    if (!detached_) log::warn("cannot unmount {}", options_.mount_point.string());
    if (wait_until_ended(kOpenFilesPatience)) return;
    log::warn("files on {} are still open; the mount ends without them",
              options_.mount_point.string());
    // The parked requests end while there are threads that serve the kernel's writes, for which
    // they wait.
    context_.parked_for_writes.stop();
    fuse_session_exit(session_.get());
    do {
      if (const pthread_t thread = main_thread_; thread != 0) pthread_kill(thread, wake_signal());
    } while (!wait_until_ended(milliseconds(20)));
  }

  KernelCache& kernel_cache() override { return *this; }
  const Statistics& statistics() const override { return context_.statistics; }
  OperationsInProgress& in_progress() override { return context_.in_progress; }

 private:
  // Errors are ignored: the kernel does not know the node or name, or the mount is ending.
  void invalidate_inode(uint64_t ino) override {
    (void)fuse_lowlevel_notify_inval_inode(session_.get(), ino, 0, 0);
  }
  void invalidate_entry(uint64_t parent, const std::string& name) override {
    (void)fuse_lowlevel_notify_inval_entry(session_.get(), parent, name.data(), name.size());
  }

  void expire_entry(uint64_t parent, const std::string& name) override {
    // The message is written here, because libfuse's function for it has other parameters in each
    // version.
    const auto size = static_cast<uint32_t>(name.size());
    const fuse_notify_inval_entry_out body{parent, size, kExpireOnly};
    fuse_out_header header{};
    header.len = static_cast<uint32_t>(sizeof header + sizeof body) + size + 1;
    header.error = FUSE_NOTIFY_INVAL_ENTRY;
    std::vector<char> message(header.len);
    std::memcpy(message.data(), &header, sizeof header);
    std::memcpy(message.data() + sizeof header, &body, sizeof body);
    std::memcpy(message.data() + sizeof header + sizeof body, name.c_str(), name.size() + 1);
    (void)!write(fuse_session_fd(session_.get()), message.data(), message.size());
  }

  bool wait_until_ended(milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    MutexLock lock(mutex_);
    while (!ended_) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) return false;
      changed_.wait_for(mutex_, left);
    }
    return true;
  }

  // syncfs(2) makes the kernel queue its dirty pages but, with FUSE, does not wait for them. The
  // daemon has all these pages when no write has been running for a while. If others continue to
  // write, the daemon has the pages when it has received as many bytes as were in the queue at the
  // beginning, because the queue keeps its order.
  void await_write_back() {
    const char* place = options_.mount_point.c_str();
    run_in_child(kWriteBackPatience, [place] {
      const int root = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
      return root >= 0 && syncfs(root) == 0;
    });
    const auto deadline = std::chrono::steady_clock::now() + kWriteBackPatience;
    const uint64_t written = context_.bytes_written.load();
    const uint64_t under_way = write_back_bytes();
    uint64_t seen = context_.writes_begun.load();
    auto quiet_since = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() < deadline) {
      if (wait_until_ended(milliseconds(10))) return;
      const uint64_t begun = context_.writes_begun.load();
      if (begun != seen || context_.writes_ended.load() != begun) {
        seen = begun;
        quiet_since = std::chrono::steady_clock::now();
      } else if (std::chrono::steady_clock::now() - quiet_since >= kQuiet) {
        return;
      }
      if (context_.bytes_written.load() - written > under_way) return;
    }
    log::warn("the kernel is still writing back to {} after {} s; not waiting any longer",
              options_.mount_point.string(), kWriteBackPatience.count() / 1000);
  }

  const SessionOptions options_;
  FrontendContext context_;
  std::unique_ptr<fuse_session, SessionDeleter> session_;
  std::atomic<pthread_t> main_thread_{};
  bool mounted_ = false;
  std::atomic<bool> detached_{false};

  Mutex mutex_;
  Condition changed_;
  bool ended_ GM_GUARDED_BY(mutex_) = false;  // run()'s loop has returned
};

}  // namespace

Result<std::unique_ptr<Session>> Session::mount(FileSystem& file_system,
                                                const SessionOptions& options) {
  auto session = std::make_unique<LibfuseSession>(file_system, options);
  GM_TRY(session->mount());
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace gridmount::fuse
