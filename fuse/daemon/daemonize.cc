#include "fuse/daemon/daemonize.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/base/log_text.h"

namespace gridmount::fuse {

namespace {

// The report is one byte, which is the status, and then the message.
[[noreturn]] void wait_for_report(int pipe, pid_t child) {
  std::string report;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t bytes = read(pipe, buffer.data(), buffer.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    report.append(buffer.data(), static_cast<size_t>(bytes));
  }
  if (report.empty()) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
      fprintf(stderr, "gridmount: the daemon was killed by signal %d (%s) before it was ready\n",
              WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
      fprintf(stderr, "gridmount: the daemon ended before it was ready\n");
    }
    _exit(static_cast<int>(ExitStatus::kFailure));
  }
  if (report.size() > 1)
    fprintf(stderr, "gridmount: %s\n", log_text(std::string_view(report).substr(1)).c_str());
  _exit(static_cast<unsigned char>(report[0]));
}

}  // namespace

Result<Startup> Startup::in_background() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::kOperationFailed, std::string("cannot make a pipe: ") + strerror(errno));
  }
  fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    const int error_number = errno;
    close(ends[0]);
    close(ends[1]);
    return fail(ErrorCode::kOperationFailed,
                std::string("cannot start a process in the background: ") + strerror(error_number));
  }
  if (child > 0) {
    close(ends[1]);
    wait_for_report(ends[0], child);
  }
  close(ends[0]);
  setsid();
  if (chdir("/") != 0) {
    return fail(ErrorCode::kOperationFailed,
                std::string("cannot change to the directory /: ") + strerror(errno));
  }
  return Startup(ends[1]);
}

Startup::~Startup() {
  if (pipe_ >= 0) close(pipe_);
}

void Startup::ready() {
  if (pipe_ < 0) return;
  // A process that waits for the end of our output (a pipeline, a command substitution) can now
  // continue.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
    if (null > STDERR_FILENO) close(null);
  }
  report(ExitStatus::kOk, "");
}

ExitStatus Startup::failed(ExitStatus status, const std::string& message) {
  if (pipe_ < 0) {
    fprintf(stderr, "gridmount: %s\n", log_text(message).c_str());
  } else {
    report(status, message);
  }
  return status;
}

void Startup::report(ExitStatus status, const std::string& message) {
  std::string bytes(1, static_cast<char>(status));
  bytes += message;
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t result = write(pipe_, bytes.data() + written, bytes.size() - written);
    if (result < 0 && errno == EINTR) continue;
    if (result <= 0) break;  // nobody is waiting any more
    written += static_cast<size_t>(result);
  }
  close(pipe_);
  pipe_ = -1;
}

}  // namespace gridmount::fuse
