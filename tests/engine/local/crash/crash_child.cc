#include "tests/engine/local/crash/crash_child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <stdexcept>

namespace gridmount::local::testing {
namespace {

constexpr unsigned kSecondsMax = 60;

[[noreturn]] void do_and_exit(const std::function<std::string()>& job, int out) {
  ::alarm(kSecondsMax);
  const std::string said = job();
  std::cout.flush();
  std::fflush(stdout);
  const ssize_t written = ::write(out, said.data(), said.size());
  ::_exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
}

}  // namespace

std::string in_child(const std::function<std::string()>& job) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw std::runtime_error("no pipe");
  std::cout.flush();
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    do_and_exit(job, pipe[1]);
  }
  ::close(pipe[1]);
  if (child < 0) {
    ::close(pipe[0]);
    throw std::runtime_error("no child process");
  }
  std::string said;
  std::array<char, 4096> buffer{};
  ssize_t count;
  while ((count = ::read(pipe[0], buffer.data(), buffer.size())) > 0) {
    said.append(buffer.data(), static_cast<size_t>(count));
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) said += " [the process ended with status " + std::to_string(status) + "]";
  return said;
}

}  // namespace gridmount::local::testing
