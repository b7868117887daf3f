#include "tests/bench/wire/process.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "tests/bench/wire/connection.h"

namespace gridmount::bench {
namespace {

bool is_listened_on(const std::filesystem::path& socket) {
  try {
    const Connection connection(socket);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const std::filesystem::path& socket) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const int code =
      ::posix_spawn(&pid_, arguments[0], nullptr, nullptr, arguments.data(), ::environ);
  if (code != 0) throw std::runtime_error(command[0] + ": " + std::strerror(code));
  constexpr std::chrono::seconds kPatience{30};
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!is_listened_on(socket)) {
    const bool has_ended = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
    if (has_ended) pid_ = 0;
    if (has_ended || std::chrono::steady_clock::now() > deadline) {
      stop();
      throw std::runtime_error(command[0] + " does not listen on " + socket.string());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Process::~Process() {
  stop();
}

void Process::stop() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

}  // namespace gridmount::bench
