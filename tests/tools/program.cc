#include "tests/tools/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

namespace gridmount::tests {

namespace {

struct Pipe {
  Pipe() { ok = ::pipe2(ends.data(), O_CLOEXEC) == 0; }
  ~Pipe() {
    close_read();
    close_write();
  }
  void close_read() { close_end(ends[0]); }
  void close_write() { close_end(ends[1]); }
  static void close_end(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  std::array<int, 2> ends{-1, -1};
  bool ok;
};

void write_all(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    ssize_t count = ::write(fd, text.data() + done, text.size() - done);
    if (count <= 0) return;  // the program did not read all of it
    done += static_cast<size_t>(count);
  }
}

void read_both(int out_fd, int err_fd, Outcome& outcome) {
  std::array<pollfd, 2> watched{{{out_fd, POLLIN, 0}, {err_fd, POLLIN, 0}}};
  std::array<char, 65536> buffer{};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    for (size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) continue;
      ssize_t count = ::read(watched[i].fd, buffer.data(), buffer.size());
      if (count <= 0) {
        watched[i].fd = -1;
      } else {
        (i == 0 ? outcome.out : outcome.err).append(buffer.data(), static_cast<size_t>(count));
      }
    }
  }
}

// Starts the program with these standard descriptors. If that fails, returns -1 and sets errno.
// posix_spawn() does not copy the page tables of this process, as fork() does. Under the address
// sanitizer they are large.
pid_t start(const std::filesystem::path& folder, const std::vector<char*>& argv,
            const std::array<int, 3>& standard_fds) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  for (int fd = 0; fd < 3; ++fd) {
    ::posix_spawn_file_actions_adddup2(&actions, standard_fds.at(static_cast<size_t>(fd)), fd);
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t default_signals;
  ::sigemptyset(&default_signals);
  ::sigaddset(&default_signals, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &default_signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  errno = failed;
  return failed == 0 ? pid : -1;
}

}  // namespace

Outcome run(const Invocation& invocation) {
  signal(SIGPIPE, SIG_IGN);
  Outcome outcome;
  Pipe in;
  Pipe out;
  Pipe err;
  if (!in.ok || !out.ok || !err.ok) {
    ADD_FAILURE() << "no pipes";
    return outcome;
  }
  std::vector<std::string> words = {invocation.program.string()};
  words.insert(words.end(), invocation.arguments.begin(), invocation.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t pid = start(invocation.folder, argv, {in.ends[0], out.ends[1], err.ends[1]});
  if (pid < 0) {
    ADD_FAILURE() << "no process for " << invocation.program << " in '"
                  << invocation.folder.string() << "': " << std::strerror(errno);
    outcome.status = 127;
    return outcome;
  }
  in.close_read();
  out.close_write();
  err.close_write();
  std::thread feeder([&] {
    write_all(in.ends[1], invocation.input);
    if (invocation.meanwhile) invocation.meanwhile(pid);
    in.close_write();
  });
  read_both(out.ends[0], err.ends[0], outcome);
  feeder.join();
  int status = 0;
  ::waitpid(pid, &status, 0);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  EXPECT_NE(outcome.status, 127) << "cannot run " << invocation.program;
  return outcome;
}

std::string without_times(const std::string& err) {
  static const std::regex kTime(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d{4}\t([^]*))");
  std::istringstream lines(err);
  std::string line;
  std::string text;
  while (std::getline(lines, line)) {
    std::smatch match;
    if (std::regex_match(line, match, kTime)) {
      text += match[1].str() + "\n";
    } else {
      EXPECT_EQ(line, "") << "a line of stderr without time and tab";
      text += line + "\n";
    }
  }
  return text;
}

}  // namespace gridmount::tests
